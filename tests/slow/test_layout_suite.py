"""Every C and C++ program of the suite, built to move: it writes the same bytes while it does.

The checks of a recipe are digests of what the unrandomised program writes. At 500 ms programs run
at size train, for a second or more; at 5 ms at size test. `STEELYARD_LAYOUT_PROGRAMS` names some.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.suite.known_recipes import RecipeRegistry, is_there
from steelyard.suite.recipe_expansion import is_compiled
from steelyard.suite.suite_compilers import Toolchain
from tests.layout_programs import require_layout
from tests.suite_programs import one_trial, ready_variant

require_layout()

MOVING = Toolchain(cc=f"{Path(sys.executable).with_name('steelyard')} cc", flags="-O2")
WANTED = os.environ.get("STEELYARD_LAYOUT_PROGRAMS", "").split()
PROGRAMS = [
    pytest.param(recipe, id=recipe.name)
    for recipe in RecipeRegistry()
    if is_there(recipe) and is_compiled(recipe) and "fortran" not in recipe.languages
    if not WANTED or recipe.name in WANTED
]


@pytest.mark.parametrize(("interval", "size"), [("500ms", "train"), ("5ms", "test")])
@pytest.mark.parametrize("recipe", PROGRAMS)
def test_it_writes_the_same_while_code_stack_and_heap_move(recipe, interval, size):
    variant = ready_variant(recipe, MOVING, size)
    layout = (
        ("STEELYARD_LAYOUT", "code,stack,heap"),
        ("STEELYARD_LAYOUT_INTERVAL", interval),
    )
    environment = (*variant.launch.environment, *layout)
    launch = replace(variant.launch, environment=environment)
    trial = one_trial(replace(variant, launch=launch))
    assert trial.status == "ok", trial.details
    report = trial.details["layout"]
    assert report["parts"] == {"code": True, "stack": True, "heap": True, "blocks": False}
    assert report["moves"] > 0
