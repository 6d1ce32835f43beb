"""Build programs of the suite with every combination of compilers and flags."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.errors import BuildFailedError, MissingCapabilityError, SuiteError
from steelyard.suite.outcomes import BuildOutcome
from steelyard.suite.recipe import Recipe
from steelyard.suite.recipe_expansion import is_compiled
from steelyard.suite.suite_compilers import Toolchain


def combined(name: SuiteName, cc: Sequence[str], flags: Sequence[str]) -> list[SuiteName]:
    """`name` with each compiler and each set of flags; as it is where none is given."""
    chosen: list[SuiteName] = []
    for compiler, words in product(cc or [None], flags or [None]):
        tools = name.toolchain
        if compiler is not None:
            tools = replace(tools, cc=compiler)
        if words is not None:
            tools = replace(tools, flags=words)
        chosen.append(replace(name, toolchain=tools))
    return chosen


def plain_name(recipe: Recipe, asked: SuiteName) -> SuiteName:
    """`asked` without compilers and flags where the program is not compiled by any."""
    if is_compiled(recipe):
        return asked
    return replace(asked, toolchain=Toolchain())


def build_programs(
    chosen: Sequence[tuple[Recipe, SuiteName]], workshop: Workshop
) -> list[BuildOutcome]:
    """Build each; one that fails does not keep the others. Logs of failed builds are kept."""
    outcomes: list[BuildOutcome] = []
    for recipe, asked in chosen:
        try:
            outcomes.append(_build(recipe, asked, workshop))
        except (SuiteError, BuildFailedError, MissingCapabilityError) as error:
            outcomes.append(BuildOutcome(recipe, asked.toolchain, problem=error.message))
    return outcomes


def _build(recipe: Recipe, asked: SuiteName, workshop: Workshop) -> BuildOutcome:
    spec = workshop.build_spec(recipe, asked)
    if spec is None:
        return BuildOutcome(recipe, asked.toolchain)
    built = workshop.built(recipe, asked, spec)
    program = os.path.join(built.directory, recipe.build.program)
    size_bytes = os.path.getsize(program) if recipe.build.program else None
    return BuildOutcome(recipe, asked.toolchain, built.directory, built.cost_s, size_bytes)
