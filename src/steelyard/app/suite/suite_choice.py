"""The programs of the suite that a user means, by names, groups, compilers and flags."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.app.suite.suite_build import combined, plain_name
from steelyard.app.suite.suite_name import SuiteName, parse_suite_name
from steelyard.suite.added_recipe import add_recipe
from steelyard.suite.generator import Generator
from steelyard.suite.inputs import GENERATORS
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.recipe import Recipe

__all__ = ["add_recipe", "chosen_programs", "chosen_recipes", "input_generators", "known_recipes"]

GROUPS_BY_DEFAULT = "all"


def known_recipes() -> list[Recipe]:
    """All recipes, also those of programs that the user would have to bring."""
    return list(RecipeRegistry())


def input_generators() -> list[Generator]:
    """All that makes inputs of programs."""
    return list(GENERATORS)


def chosen_recipes(names: Sequence[str]) -> list[Recipe]:
    """The recipes that names and groups stand for, each once; all without any."""
    registry = RecipeRegistry()
    found = {
        recipe.name: recipe
        for text in names or (GROUPS_BY_DEFAULT,)
        for recipe in registry.chosen(parse_suite_name(text).name)
    }
    return list(found.values())


def chosen_programs(
    names: Sequence[str], size: str, cc: str | None, flags: Sequence[str]
) -> list[tuple[Recipe, SuiteName]]:
    """The programs that names and groups stand for, with each compiler and set of flags.

    What a name says itself after an @ goes before the options.
    """
    registry = RecipeRegistry()
    compilers = tuple(filter(None, (cc or "").split(",")))
    found: dict[tuple[str, SuiteName], tuple[Recipe, SuiteName]] = {}
    for text in names or (GROUPS_BY_DEFAULT,):
        for default in combined(SuiteName("", size=size), compilers, flags):
            asked = parse_suite_name(text, default)
            for recipe in registry.chosen(asked.name):
                plain = SuiteName(recipe.name, plain_name(recipe, asked).toolchain, asked.size)
                found.setdefault((recipe.name, plain), (recipe, plain))
    return list(found.values())
