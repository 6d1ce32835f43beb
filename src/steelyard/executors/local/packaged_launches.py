"""Benchmark packages here: built in their environment, and a container for each trial."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

from steelyard.build.run_build import DIRECTORY_VARIABLE
from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.private_file import DIRECTORY_MODE
from steelyard.design.blocks import PlannedTrial
from steelyard.measure.left_file import remove_left
from steelyard.measure.package_results import report_file
from steelyard.service.package.environments import (
    CONTAINER_SAYS,
    LAYER_OF_BUILD,
    PLACE,
    Environment,
    container_program,
    environment_named,
)
from steelyard.service.package.host_rooms import contents_digest, image_folder
from steelyard.service.package.kept_packages import KeptPackages, packages_directory


def packaged_builds(spec: ExperimentSpec) -> ExperimentSpec:
    """`spec` with the builds of its packages as this machine makes them.

    Raises
    ------
    UsageError, MissingCapabilityError, ArchiveError
        A package is not kept here, or its environment cannot be had.
    """
    if all(variant.package is None for variant in spec.variants):
        return spec
    return replace(spec, variants=tuple(map(_built_here, spec.variants)))


def _built_here(variant: Variant) -> Variant:
    package, build = variant.package, variant.build
    if package is None or build is None:
        return variant
    environment = environment_named(package.environment)
    _check(environment)
    package = replace(package, image=image_folder(package.image))
    if build.randomize:
        raise UsageError(
            f"The build of the package {variant.name!r} cannot be randomised: compilers inside of "
            "its environment are not ours. Give the experiment a [build] in its place.",
            field="randomize",
        )
    kept = KeptPackages(packages_directory())
    place = kept.place(kept.package(package.digest).digest)
    variables = environment.environment(package, os.environ)
    changed = replace(
        build,
        argv=environment.build_argv(package, container_program()),
        source=place,
        environment=(*variables, *build.environment, *_of_image(package.image)),
    )
    return replace(variant, build=changed, package=package)


def _of_image(image: str | None) -> tuple[tuple[str, str | None], ...]:
    """A variable for `setup.sh`, so that what was built on other contents of an image is not taken
    for this one's."""
    return () if image is None else (("STEELYARD_IMAGE", contents_digest(image)),)


def package_words(message: str) -> str:
    """Why a package's build failed, without the call of the program for containers."""
    _, told, why = message.rpartition(CONTAINER_SAYS)
    return f"Its package cannot be made ready: {why.strip()}" if told else message


def _check(environment: Environment) -> None:
    if environment.needs_root and os.geteuid() != 0:
        raise MissingCapabilityError(
            f"The environment {environment.name!r} needs root. Run as root, or in 'contained'.",
            field="--environment",
        )
    if environment.needs_root and shutil.which("mkfs.ext4") is None:
        raise MissingCapabilityError(
            f"The environment {environment.name!r} needs mkfs.ext4. Install it: "
            "apt-get install e2fsprogs",
            field="--environment",
        )


class PackagedLaunches:
    """Puts a container of its own around each trial of a package.

    Parameters
    ----------
    directory : str
        For what belongs to one trial; it exists.
    results : str
        Where the archives of results are kept.
    """

    def __init__(self, directory: str, results: str) -> None:
        self._directory = os.path.abspath(directory)
        self._results = os.path.abspath(results)
        self._program = container_program()

    def wrapped(self, program: Variant, trial: PlannedTrial) -> Variant:
        """`program` as the trial runs it; as it is where it is of no package."""
        package = program.package
        if package is None:
            return program
        environment = environment_named(package.environment)
        own = dict(program.launch.environment)
        place = own.pop(DIRECTORY_VARIABLE, None) or ""
        state = os.path.join(self._directory, f"{trial.position}.container")
        os.makedirs(self._results, mode=DIRECTORY_MODE, exist_ok=True)
        result = os.path.join(self._results, f"trial-{trial.position}")
        report = report_file(self._directory, trial.position)
        remove_left(report)
        variables = environment.environment(package, {*os.environ, DIRECTORY_VARIABLE})
        launch = replace(
            program.launch,
            argv=("./run.sh", *program.launch.argv[1:]),
            environment=(*variables, *own.items()),
            working_directory=None,
            container=state,
        )
        layer = LAYER_OF_BUILD.replace(PLACE, place)
        return replace(
            program,
            launch=launch,
            prepare=environment.hold_argv(package, self._program, state, layer),
            cleanup=environment.collect_argv(package, self._program, state, (result, report)),
        )
