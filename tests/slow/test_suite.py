"""Every program of the suite, built by two compilers at two levels, run, and its check tried.

What is fetched and built is kept in build/suite, or in STEELYARD_TEST_SUITE_CACHE.
"""

from __future__ import annotations

import shutil

import pytest

from steelyard.suite.known_recipes import RecipeRegistry, is_there
from steelyard.suite.recipe_expansion import is_compiled
from steelyard.suite.suite_compilers import Toolchain
from tests.suite_programs import changed_variant, one_trial, ready_variant

CLANG = next((name for name in ("clang", "clang-19", "clang-14") if shutil.which(name)), "clang")
TOOLCHAINS = [
    Toolchain(cc=compiler, flags=flags) for compiler in ("gcc", CLANG) for flags in ("-O1", "-O3")
]
PROGRAMS = [
    pytest.param(recipe, toolchain, id=f"{recipe.name} {toolchain.label()}".strip())
    for recipe in RecipeRegistry()
    if is_there(recipe)
    for toolchain in (TOOLCHAINS if is_compiled(recipe) else [Toolchain()])
]


@pytest.mark.parametrize(("recipe", "toolchain"), PROGRAMS)
def test_it_writes_what_it_must_and_a_changed_byte_shows(recipe, toolchain, tmp_path):
    trial = one_trial(ready_variant(recipe, toolchain))
    assert trial.status == "ok", trial.details
    changed = one_trial(changed_variant(recipe, toolchain, tmp_path))
    assert changed.status == "failed"
    assert changed.reason in ("check", "exit"), changed.details
