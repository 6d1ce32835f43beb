"""From a recipe to what is built and run: its places filled in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from steelyard.core.build_spec import BuildSpec
from steelyard.core.experiment_spec import LaunchSpec, OutputCheck
from steelyard.suite.prepare import SCRIPT
from steelyard.suite.recipe import Recipe, Size
from steelyard.suite.suite_compilers import COMPILED, Toolchain

BUILD_TIMEOUT_S = 1800.0
RUN_TIMEOUT_S = 300.0
# `{build}` stays as it is: it is filled by whoever builds.
BUILD_PLACE = "{build}"


@dataclass(frozen=True)
class Places:
    """Directories that are known only here.

    `build` may be ``{build}`` where the build is not made yet.
    """

    build: str
    input: str
    work: str


def is_compiled(recipe: Recipe) -> bool:
    """Whether compilers and flags make a difference to the program."""
    return bool(recipe.build.script) and any(name in COMPILED for name in recipe.languages)


def build_spec(recipe: Recipe, source: str, toolchain: Toolchain) -> BuildSpec | None:
    """How the prepared `source` of a recipe is built; None where nothing is."""
    if not recipe.build.script:
        return None
    environment: tuple[tuple[str, str | None], ...] = recipe.build.environment
    compilers: Mapping[str, str] = {}
    if is_compiled(recipe):
        environment = (*toolchain.environment(), *environment)
        compilers = toolchain.compilers()
    return BuildSpec(
        argv=("/bin/sh", "-eu", SCRIPT),
        source=source,
        environment=environment,
        compilers=tuple(compilers.items()),
        timeout_s=recipe.build.timeout_s or BUILD_TIMEOUT_S,
        self_contained=True,
    )


def launch_spec(recipe: Recipe, size: Size, places: Places) -> LaunchSpec:
    """How the program is run at `size`."""
    fill = _Filler(recipe, places)
    return LaunchSpec(
        argv=fill.words(size.argv),
        environment=tuple((name, fill.text(value)) for name, value in size.environment),
        working_directory=places.work,
        stdin_file=None if size.stdin is None else fill.text(size.stdin),
        timeout_s=size.timeout_s or RUN_TIMEOUT_S,
        expected_exit_codes=(size.exit_code,),
    )


def step(recipe: Recipe, words: tuple[str, ...] | None, places: Places) -> tuple[str, ...] | None:
    """A preparation or clean-up with its places filled in."""
    return None if words is None else _Filler(recipe, places).words(words)


def output_checks(recipe: Recipe, size: Size) -> tuple[OutputCheck, ...]:
    """What the program must have written at `size`."""
    return tuple(
        OutputCheck(
            comparator=check.comparator,
            expected=check.expected
            if check.comparator == "sha256"
            else os.path.join(os.path.abspath(recipe.folder), check.expected),
            file=check.file,
            tolerance_ratio=check.tolerance_ratio,
            ignore=check.ignore,
        )
        for check in size.checks
    )


def with_argv(size: Size, argv: tuple[str, ...] | None) -> Size:
    """`size` with another command."""
    return size if argv is None else replace(size, argv=argv)


class _Filler:
    def __init__(self, recipe: Recipe, places: Places) -> None:
        self._values = {
            "{program}": os.path.join(places.build, recipe.build.program),
            "{build}": places.build,
            "{input}": places.input,
            "{work}": places.work,
            "{recipe}": os.path.abspath(recipe.folder),
            "{jobs}": str(len(os.sched_getaffinity(0))),
        }

    def text(self, text: str) -> str:
        for place, value in self._values.items():
            text = text.replace(place, value)
        return text

    def words(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self.text, words))
