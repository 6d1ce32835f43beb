"""Taking a recipe of the user's into those that are known."""

from __future__ import annotations

import os
import shutil

from steelyard.core.errors import UsageError
from steelyard.suite.known_recipes import RecipeRegistry, own_directory
from steelyard.suite.make_inputs import check_inputs
from steelyard.suite.read_recipe import read_recipe
from steelyard.suite.recipe import Recipe
from steelyard.suite.suite_cache import disk_errors, remove_tree
from steelyard.suite.unpack import copy_tree


def add_recipe(path: str, *, replace: bool = False) -> Recipe:
    """Copy a recipe and the folder beside it to the user's own, after reading it.

    Parameters
    ----------
    replace : bool
        Put it in the place of one of the user's own of the same name.

    Raises
    ------
    DataError
        It is not a recipe.
    UsageError
        One of that name is known already.
    """
    recipe = read_recipe(path)
    check_inputs(recipe)
    target = os.path.join(own_directory(), f"{recipe.name}.toml")
    if recipe.name in RecipeRegistry().names() and not (replace and os.path.exists(target)):
        hint = " --replace puts yours in its place." if os.path.exists(target) else ""
        raise UsageError(
            f"The suite has a program {recipe.name!r} already.{hint} Or give it another name.",
            field="FILE",
        )
    folder = os.path.join(own_directory(), recipe.name)
    with disk_errors(target):
        os.makedirs(own_directory(), exist_ok=True)
        remove_tree(folder)
        if os.path.isdir(recipe.folder):
            copy_tree(recipe.folder, folder)
        partial = f"{target}.partial"
        shutil.copyfile(path, partial)
        os.replace(partial, target)
    return read_recipe(target)
