"""A benchmark of an experiment file that is a package: from its archive to its variant."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile
from steelyard.app.package.package_choice import choice_of, package_iterations
from steelyard.app.package.packaged_variant import PackageChoice, keep_package, packaged_variant
from steelyard.app.request.experiment_request import build_metrics
from steelyard.core.errors import ArchiveError, UsageError
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.stopping_spec import StoppingSpec


def packaged_experiment(file: ExperimentFile, entry: BenchmarkEntry) -> ExperimentSpec:
    """The experiment of a package alone.

    Raises
    ------
    UsageError, ArchiveError
        It cannot be read, has faults, or an option is wrong; the message names the line.
    """
    settings = file.settings
    metrics = tuple(settings.get("metrics", ()))
    iterations = package_iterations(settings.get("iterations"), metrics)
    return ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="measurement",
        variants=(_variant(file, entry),),
        metrics=build_metrics(metrics, iterations),
        seed=0,
        stopping=StoppingSpec(),
        iterations=iterations,
    )


def package_source(file: ExperimentFile, entry: BenchmarkEntry) -> str:
    """Where the archive or folder of a package lies: beside the file, else as seen by who calls."""
    beside = os.path.join(os.path.dirname(file.path), entry.package)
    return beside if os.path.exists(beside) else entry.package


def package_choice(file: ExperimentFile, entry: BenchmarkEntry) -> PackageChoice:
    """How the package is to be run.

    Raises
    ------
    UsageError
        An option is wrong.
    """
    options: dict[str, Any] = dict(entry.options.get("package_options", {}))
    if "timeout" in file.settings:
        options["timeout"] = file.settings["timeout"]
    found = choice_of(options, lambda name: f"package_options.{name}")
    # A program that never ends would hold its host for ever.
    timeout_s = 3600.0 if found.timeout_s is None else found.timeout_s
    codes = tuple(entry.options.get("exit_codes", (0,)))
    return replace(found, timeout_s=timeout_s, expected_exit_codes=codes)


def _variant(file: ExperimentFile, entry: BenchmarkEntry) -> Variant:
    try:
        choice = package_choice(file, entry)
        digest, directory = _kept(file, entry)
        found = packaged_variant(digest, entry.name, choice, directory)
    except (ArchiveError, UsageError) as error:
        place = entry.places.get("package", file.path)
        raise UsageError(f"{place}: {error.message}", field=error.field) from None
    own = {name: str(value) for name, value in entry.options.get("environment", {}).items()}
    assert found.package is not None
    variables = tuple({**dict(found.package.variables), **own}.items())
    return replace(found, package=replace(found.package, variables=variables))


def _kept(file: ExperimentFile, entry: BenchmarkEntry) -> tuple[str, str | None]:
    """The digest of the package, and where packages are kept if that is not the user's place."""
    if file.packages is None:
        source = package_source(file, entry)
        if not os.path.exists(source):
            raise ArchiveError(f"There is no package {entry.package!r}.", field="package")
        return keep_package(source).digest, None
    digest = file.packages.digests.get(entry.package)
    if digest is None:
        raise ArchiveError(
            f"The package {entry.package!r} was not sent with the file. Send both by "
            "`steelyard submit FILE.toml`.",
            field="package",
        )
    return digest, file.packages.directory
