"""The builds of an experiment's units: made anew, or taken again where nothing would differ.

A level that is drawn for each block, such as one of 22 link orders, comes again; building it again
would give the same program, bit for bit, and take the time of many trials.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.private_file import DIRECTORY_MODE
from steelyard.core.rng import derive_seed
from steelyard.measure.built_variant import PLACE

if TYPE_CHECKING:
    from steelyard.build.run_build import Build

LOG_TAIL_BYTES = 4096
# Some thousand builds of small programs; beyond, those that were longest unused are made again.
KEPT_BYTES = 8 * 2**30


class Failed(NamedTuple):
    """What is told of a build that failed: a message, and the end of its log with its place."""

    message: str
    about: Mapping[str, str]


class UnitBuilds:
    """Makes builds, and removes them.

    Parameters
    ----------
    spec : ExperimentSpec
    directory, logs : str
        For builds of this experiment alone, and for the logs of those that fail.
    """

    def __init__(self, spec: ExperimentSpec, directory: str, logs: str) -> None:
        self._spec = spec
        self._directory = directory
        self._logs = logs
        self._of_unit: list[Build] = []
        self._kept: dict[tuple[BuildSpec, int], Build | Failed] = {}
        self._failed: dict[tuple[int, int], Failed] = {}
        self._draws_builds = _draws_builds(spec)

    def made(self, spec: BuildSpec, index: int, number: int) -> Build:
        """The build `number` of the variant `index`.

        Raises
        ------
        BuildFailedError
        """
        from steelyard.build.run_build import run_build

        if self._comes_again(spec):
            return self._kept_build(spec, 0 if spec.seed is None else spec.seed, index, number)
        seed = spec.seed
        if seed is None:
            seed = derive_seed(self._spec.seed, "build", index, number)
        build = run_build(spec, seed, self._place(index, number))
        self._of_unit.append(build)
        return build

    def failed(self, index: int, number: int, message: str) -> Failed:
        """What is told of a build that failed; its log is kept, its directory is not."""
        from steelyard.build.run_build import remove_directories

        known = self._failed.get((index, number))
        if known is not None:
            return known
        place = self._place(index, number)
        told = self._told(place, index, number, message)
        self._of_unit = [build for build in self._of_unit if build.directory != place]
        remove_directories(place)
        return told

    def _told(self, place: str, index: int, number: int, message: str) -> Failed:
        from steelyard.build.side_files import beside

        log = os.path.join(beside(place), "log")
        about: dict[str, str] = {}
        if os.path.exists(log):
            kept = os.path.join(self._logs, f"build-{index}-{number}.log")
            os.makedirs(self._logs, mode=DIRECTORY_MODE, exist_ok=True)
            shutil.copyfile(log, kept)
            with open(log, "rb") as file:
                file.seek(max(0, os.path.getsize(log) - LOG_TAIL_BYTES))
                about = {"stderr_tail": file.read().decode("utf-8", "replace"), "log": kept}
            message = message.replace(log, kept)
        return Failed(message.replace(place, PLACE), about)

    def leave(self) -> None:
        """Remove the builds of the present unit that do not come again."""
        from steelyard.build.run_build import remove_build

        while self._of_unit:
            remove_build(self._of_unit.pop())

    def close(self) -> None:
        """Remove all builds but those that other experiments may use."""
        from steelyard.build.run_build import remove_build

        self.leave()
        for (spec, _), build in self._kept.items():
            if not spec.self_contained and not isinstance(build, Failed):
                remove_build(build)
        self._kept.clear()

    def _comes_again(self, spec: BuildSpec) -> bool:
        """Whether making this build again would give the same program, and nobody wants that."""
        if not _is_determined(spec):
            return False
        return self._draws_builds or (spec.self_contained and not self._spec.repeats_builds)

    def _kept_build(self, spec: BuildSpec, seed: int, index: int, number: int) -> Build:
        found = self._kept.get((spec, seed))
        if found is None or (not isinstance(found, Failed) and not os.path.isdir(found.directory)):
            found = self._kept[spec, seed] = self._cached(spec, seed, index, number)
        if isinstance(found, Failed):
            self._failed[index, number] = found
            raise BuildFailedError(found.message)
        return found

    def _cached(self, spec: BuildSpec, seed: int, index: int, number: int) -> Build | Failed:
        from steelyard.build.build_cache import cached_build, entry_place, prune

        directory = _kept_directory() if spec.self_contained else self._directory
        try:
            found = cached_build(spec, seed, directory)
        except BuildFailedError as error:
            return self._told(entry_place(spec, seed, directory), index, number, error.message)
        prune(directory, KEPT_BYTES)
        return found

    def _place(self, variant: int, build: int) -> str:
        """The directory of a build: as long a path for each, because paths move the stack."""
        os.makedirs(self._directory, exist_ok=True)
        return os.path.join(self._directory, f"{variant:03}-{build:06}")


def with_kept_builds(spec: ExperimentSpec) -> ExperimentSpec:
    """An experiment each of whose builds is made once, before its trials, and kept for others; one
    that fails does so again for its trials.

    Builds that are repeated, randomised anew, of packages, or at levels that are drawn for each
    block are left as they are.
    """
    from steelyard.build.build_cache import cached_build

    if spec.repeats_builds or _draws_builds(spec):
        return spec
    kept: dict[BuildSpec, BuildSpec] = {}
    own = [variant.build for variant in spec.variants if variant.package is None]
    for build in dict.fromkeys(own):
        if build is not None and _is_determined(build):
            kept[build] = replace(build, self_contained=True)
            with suppress(BuildFailedError):
                seed = 0 if build.seed is None else build.seed
                cached_build(kept[build], seed, _kept_directory())
    variants = tuple(
        replace(each, build=kept[each.build])
        if each.package is None and each.build in kept
        else each
        for each in spec.variants
    )
    return replace(spec, variants=variants)


def _is_determined(spec: BuildSpec) -> bool:
    """Whether nothing of a build is drawn when it is made."""
    from steelyard.build.randomizations import RANDOMIZATIONS

    drawn = [name for name in spec.randomize if RANDOMIZATIONS.get(name).draws]
    return not set(drawn) - {name for name, _ in spec.seeds}


def _kept_directory() -> str:
    from steelyard.suite.suite_cache import SuiteCache

    return SuiteCache().directory("drawn-builds")


def _draws_builds(spec: ExperimentSpec) -> bool:
    """Whether the setups that are drawn change builds."""
    if not spec.nuisance:
        return False
    from steelyard.factors.kinds import FACTORS

    return any(FACTORS.get(factor.factor).part == "build" for factor in spec.nuisance)
