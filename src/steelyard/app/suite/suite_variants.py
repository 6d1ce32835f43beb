"""Programs of the suite as the variants of an experiment.

``compare suite:native@-O2 suite:native@-O3`` makes one group of variants for each program, each
with the first of its own group as baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.app.request.command_text import (
    Parameters,
    fill,
    is_suite_name,
    parse_environment,
    parse_parameters,
)
from steelyard.app.suite.suite_name import SuiteName, parse_suite_name
from steelyard.app.suite.suite_program import ReadyProgram, Workshop
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import IterationsSpec, Variant
from steelyard.core.repetition import BUILD_LEVEL
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.recipe import Recipe

if TYPE_CHECKING:
    from steelyard.app.request.request import Request

# What a recipe says itself, so that an option cannot.
_NOT_FOR_SUITE = {
    "shell": "--shell",
    "prepare": "--prepare",
    "cleanup": "--cleanup",
    "directory": "--directory",
    "stdin_file": "--stdin",
}


def suite_variants(request: Request, workshop: Workshop | None = None) -> tuple[Variant, ...]:
    """The variants that the names of a request stand for, every program made ready.

    Raises
    ------
    UsageError
        A name is wrong, an option does not go with programs of the suite, or the names stand for
        different programs of a group.
    SuiteError, BuildFailedError, MissingCapabilityError
        A program cannot be made ready.
    """
    _check_options(request)
    workshop = workshop or Workshop()
    registry = RecipeRegistry()
    repeats_builds = any(level.name == BUILD_LEVEL for level in request.levels.levels)
    variants: list[Variant] = []
    for parameters in parse_parameters(request.parameters):
        names = [parse_suite_name(fill(command[0], parameters)) for command in request.commands]
        programs = [registry.chosen(name.name) for name in names]
        grouped = any(len(found) > 1 for found in programs)
        if grouped:
            _check_same(names, programs)
        for position, recipe in enumerate(programs[0]):
            for index, name in enumerate(names):
                ready = workshop.ready(programs[index][position], name, build=not repeats_builds)
                given = request.names[index : index + 1]
                variants.append(
                    _variant(request, ready, parameters, recipe.name if grouped else "", given)
                )
    return tuple(variants)


def suite_iterations(request: Request) -> IterationsSpec | None:
    """Where all programs of a request write their iterations; None where they are not alike."""
    registry = RecipeRegistry()
    first = parse_parameters(request.parameters)[0]
    found = {
        recipe.iterations
        for command in request.commands
        for recipe in registry.chosen(parse_suite_name(fill(command[0], first)).name)
    }
    only = next(iter(found))
    if len(found) > 1 or only is None:
        return None
    warmup_count = request.warmup_iteration_count
    return IterationsSpec(
        adapter=only.adapter,
        file=only.file,
        pattern=only.pattern,
        benchmark=request.benchmark or only.benchmark,
        warmup_count=only.warmup_count if warmup_count is None else warmup_count,
    )


def _check_options(request: Request) -> None:
    for name, option in _NOT_FOR_SUITE.items():
        if getattr(request, name):
            raise UsageError(
                f"{option} does not go with programs of the suite: their recipes say it.",
                field=option,
            )
    build = request.build
    if build.commands or build.sources or build.cc or build.cxx or build.ld:
        raise UsageError(
            "--build, --cc, --cxx and --ld do not go with programs of the suite: their recipes "
            "say how they are built. suite:NAME@cc=COMPILER,flags=FLAGS says with what.",
            field="--build",
        )
    for command in request.commands:
        if not is_suite_name(command[0]):
            raise UsageError(
                f"Programs of the suite are compared with each other, not with {command[0]!r}.",
                field="suite",
            )
        if len(command) > 1:
            raise UsageError(
                f"{command[0]!r} is followed by {command[1]!r}. A program of the suite takes no "
                "arguments; quote flags that have spaces: 'suite:NAME@flags=-O3 -flto'.",
                field="suite",
            )


def _check_same(names: Sequence[SuiteName], programs: Sequence[Sequence[Recipe]]) -> None:
    first = [recipe.name for recipe in programs[0]]
    for name, found in zip(names, programs, strict=True):
        if [recipe.name for recipe in found] != first:
            raise UsageError(
                f"{names[0].text!r} and {name.text!r} stand for different programs. A group is "
                "compared with itself, built or run otherwise.",
                field="suite",
            )


def _variant(
    request: Request, ready: ReadyProgram, parameters: Parameters, group: str, given: Sequence[str]
) -> Variant:
    """The variant of a program, under its conditions in this experiment."""
    label = ", ".join(f"{key}={value}" for key, value in parameters)
    several = len(request.commands) > 1
    name = given[0] if given else ready.asked.label()
    launch = replace(
        ready.variant.launch,
        environment=(
            *ready.variant.launch.environment,
            *parse_environment(request.environment),
        ),
        environment_padding_bytes=request.environment_padding_bytes,
        timeout_s=request.timeout_s or ready.variant.launch.timeout_s,
        cpus=request.cpus,
    )
    build = ready.variant.build
    if build is not None:
        build = replace(build, randomize=request.build.randomize)
    return replace(
        ready.variant,
        name=" ".join(filter(None, (ready.recipe.name, name))),
        launch=launch,
        parameters=parameters,
        group=" ".join(filter(None, (group, label if several else ""))),
        build=build,
    )
