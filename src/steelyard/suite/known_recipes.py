"""The recipes that are known: those of the package, of other distributions, and the user's own."""

from __future__ import annotations

import os
from collections.abc import Iterator

from steelyard.core.errors import DataError, RegistryError, UnknownNameError
from steelyard.core.plugins import load_plugin
from steelyard.suite.read_recipe import read_recipe
from steelyard.suite.recipe import GROUPS, Recipe

ENTRY_POINTS = "steelyard.recipes"
_SUFFIX = ".toml"
ALL = "all"


class RecipeRegistry:
    """Recipes by name, each read when it is asked for.

    Raises
    ------
    RegistryError
        A name comes twice.
    """

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._recipes: dict[str, Recipe] = {}
        for path in _recipe_files():
            name = os.path.basename(path).removesuffix(_SUFFIX)
            if name in self._paths:
                raise RegistryError(
                    f"The recipe {name!r} is there twice: {self._paths[name]} and {path}. Remove "
                    "one of them."
                )
            self._paths[name] = path

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._paths)

    def get(self, name: str) -> Recipe:
        """The recipe called `name`.

        Raises
        ------
        UnknownNameError
            There is none; the message lists the known ones.
        """
        if name not in self._paths:
            raise UnknownNameError(
                f"The suite has no program {name!r}. Programs: {', '.join(self.names())}. Groups: "
                f"{', '.join((*GROUPS, ALL))}.",
                field="suite",
            )
        if name not in self._recipes:
            self._recipes[name] = read_recipe(self._paths[name])
        return self._recipes[name]

    def __iter__(self) -> Iterator[Recipe]:
        for name in self.names():
            yield self.get(name)

    def chosen(self, name: str) -> list[Recipe]:
        """The recipe of that name, or all of that group but those that the user must bring; of
        several names with + between them, each once.

        Raises
        ------
        UnknownNameError
            There is neither.
        """
        if "+" in name:
            found = {
                recipe.name: recipe for part in name.split("+") for recipe in self.chosen(part)
            }
            return list(found.values())
        if name not in (*GROUPS, ALL):
            return [self.get(name)]
        found = [r for r in self if (name == ALL or name in r.groups) and is_there(r)]
        if not found:
            raise UnknownNameError(f"The group {name!r} has no programs.", field="suite")
        return found


def is_there(recipe: Recipe) -> bool:
    """Whether the program can be had: fetched, or the user has said where it is."""
    return recipe.source.kind != "user" or bool(os.environ.get(recipe.source.variable))


def own_directory() -> str:
    """Where the user's own recipes are."""
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # The XDG specification: relative paths are to be ignored.
        data = os.path.expanduser("~/.local/share")
    return os.path.join(data, "steelyard", "recipes")


def _recipe_files() -> Iterator[str]:
    here = os.path.join(os.path.dirname(__file__), "recipes")
    for directory in (here, own_directory()):
        if os.path.isdir(directory):
            for entry in sorted(os.listdir(directory)):
                if entry.endswith(_SUFFIX):
                    yield os.path.join(directory, entry)
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS):
        path = load_plugin("recipe", point)
        if path is None:
            continue
        if not isinstance(path, str | os.PathLike):
            raise DataError(f"The entry point {point.value} must be the path of a recipe.")
        yield os.fspath(path)
