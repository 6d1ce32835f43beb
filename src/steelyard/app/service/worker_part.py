"""Running a part that a service gave: planned anew here, run by the engine, told as a result."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from steelyard.app.experiment.experiment_file import KnownPackages, experiment_file_of
from steelyard.app.service.brought_part import brought_to
from steelyard.app.service.child_command import child_command, child_environment, files_in
from steelyard.app.service.planned_submission import plan_digest, plan_for_service
from steelyard.app.service.worker_archives import ARCHIVES
from steelyard.app.service.worker_packages import WorkerPackages
from steelyard.core.errors import DataError, SteelyardError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.masked_experiment import given_values
from steelyard.core.masking import mask_text
from steelyard.design.plan_part import part_document, plan_part
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
    try:
        known = packages.fetched(given["packages"], directory)
        spec = _planned_here(given, known, say)
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
        env=child_environment(**files_in(directory), **packages.variables(known)),
        check=False,
    )
    found = _result(result_path)
    if found.get("kind") == "part-result" and not found["interrupted"]:
        provenance = {**found["provenance"], **({"rooms": rooms} if rooms else {})}
        return {**about, "trials": found["trials"], "provenance": provenance, "levels": levels}
    told = found.get("message") or done.stderr.decode("utf-8", "replace").strip()[-2000:]
    failure = told or f"its command ended with status {done.returncode}"
    return {**about, "failure": mask_text(str(failure), given_values(spec))}


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


def _result(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
