"""Running a part that a service gave: planned anew here, run by the engine, told as a result."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from steelyard.allocation.hosts_asked import read_hosts_asked
from steelyard.app.experiment.experiment_entries import KnownPackages
from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.service.brought_part import brought_to
from steelyard.app.service.child_command import (
    child_command,
    child_environment,
    files_in,
    known_failures,
)
from steelyard.app.service.planned_submission import plan_digest, plan_for_service
from steelyard.app.service.worker_archives import ARCHIVES
from steelyard.app.service.worker_builds import WorkerBuilds
from steelyard.app.service.worker_packages import WorkerPackages
from steelyard.build.build_exchange import exchanging
from steelyard.core.errors import BuildFailedError, DataError, SteelyardError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.masked_experiment import given_values
from steelyard.core.masking import mask_text
from steelyard.design.plan_part import part_document, plan_part
from steelyard.executors.local.unit_builds import with_kept_builds
from steelyard.service.service_client import UnreachableError

Say = Callable[[str], None]


def run_given(
    given: Mapping[str, Any], directory: str, say: Say, packages: WorkerPackages
) -> dict[str, Any]:
    """Run the part `given`, and give the result that goes back.

    Parameters
    ----------
    given : mapping
        As the service sends it.
    directory : str
        For the part and its result, which are left there.
    packages : WorkerPackages
        From where its benchmark packages are fetched.

    Raises
    ------
    UnreachableError
        A package cannot be fetched now.

    Notes
    -----
    Whatever is wrong with the part is a result that says so: other workers may fare better.
    """
    about = {name: given[name] for name in ("part", "attempt", "experiment")}
    builds = WorkerBuilds(packages.client, given, directory, say, are_shared=_shares_builds(given))
    try:
        known = packages.fetched(given["packages"], directory)
        spec = _built_here(given, known, say, builds)
        levels = dict(given.get("levels", {}))
        spec, rooms = brought_to(spec, levels)
        part = plan_part(spec, given["positions"], given["attempt"])
    except UnreachableError:
        raise
    except SteelyardError as error:
        hidden = given_values(experiment_spec_from_json(given["specification"]))
        return {**about, "failure": mask_text(error.message, hidden)}
    part_path = os.path.join(directory, "part.json")
    result_path = os.path.join(directory, "result.json")
    with open(part_path, "w", encoding="utf-8") as file:
        json.dump(part_document(part), file)
    argv = child_command("trial", "run", part_path, "--result", result_path, "--wait")
    if known.digests:
        argv += ["--archives", os.path.join(directory, ARCHIVES)]
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=child_environment(
            **files_in(directory),
            **packages.variables(known),
            **known_failures(directory, builds.failures),
        ),
        check=False,
    )
    found = _result(result_path)
    if found.get("kind") == "part-result" and not found["interrupted"]:
        more = {"rooms": rooms, "shared_builds": builds.used}
        told = {name: value for name, value in more.items() if value}
        provenance = {**found["provenance"], **told}
        return {**about, "trials": found["trials"], "provenance": provenance, "levels": levels}
    told = found.get("message") or done.stderr.decode("utf-8", "replace").strip()[-2000:]
    failure = told or f"its command ended with status {done.returncode}"
    return {**about, "failure": mask_text(str(failure), given_values(spec))}


def _built_here(
    given: Mapping[str, Any], known: KnownPackages, say: Say, builds: WorkerBuilds
) -> ExperimentSpec:
    """As `_planned_here`, with its builds made or fetched where they are shared."""
    lacks_nothing = False
    try:
        with exchanging(builds):
            spec = _planned_here(given, known, say)
            lacks_nothing = builds.lacks_nothing = True
            if builds.are_shared:
                spec = with_kept_builds(spec)
    except BuildFailedError:
        lacks_nothing = True
        raise
    finally:
        builds.settle(lacks_nothing=lacks_nothing)
    return spec


def _planned_here(given: Mapping[str, Any], known: KnownPackages, say: Say) -> ExperimentSpec:
    """The specification of the file on this host, whose programs are made ready."""
    asked = experiment_spec_from_json(given["specification"])
    read = experiment_file_of(given["file"], "the experiment file")
    read = replace(read, packages=known)
    plan = plan_for_service(read, asked.seed, asked.stopping.runs, say)
    if plan_digest(plan.spec) != given["plan"]:
        raise DataError(
            "This worker's Steelyard plans the experiment otherwise than the service does: both "
            "must be of one version."
        )
    return replace(plan.spec, identifier=asked.identifier)


def make_given_builds(
    given: Mapping[str, Any], directory: str, say: Say, packages: WorkerPackages
) -> str:
    """Make the builds of an experiment for those of this platform that run it, and send them; why
    that could not be done, empty where it was. Which of them failed, the service is told.

    Parameters
    ----------
    given : mapping
        As the service sends it.
    directory : str
        For archives, which are taken away.
    """
    builds = WorkerBuilds(packages.client, given, directory, say, are_shared=True)
    try:
        _built_here(given, KnownPackages(packages.directory, {}), say, builds)
    except SteelyardError as error:
        hidden = given_values(experiment_spec_from_json(given["specification"]))
        return mask_text(error.message, hidden)
    return ""


def _shares_builds(given: Mapping[str, Any]) -> bool:
    """Whether the file asks that one worker builds for all of its platform."""
    try:
        read = experiment_file_of(given["file"], "the experiment file")
        return read_hosts_asked(read.hosts).builds == "platform"
    except SteelyardError:
        return False


def _result(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
