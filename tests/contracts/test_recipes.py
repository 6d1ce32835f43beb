"""What every recipe of the suite keeps. tests/slow/test_suite.py fetches, builds and runs all."""

from __future__ import annotations

import re

import pytest

from steelyard.harness.adapters import ADAPTERS
from steelyard.measure.iterations import parse_iterations
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.make_inputs import check_inputs
from steelyard.suite.recipe import GROUPS, SIZES
from steelyard.suite.suite_compilers import Toolchain
from tests.needs import need
from tests.suite_programs import changed_variant, one_trial, ready_variant

REGISTRY = RecipeRegistry()
# Small enough to be fetched, built and run whenever tests are.
BUILT = ["bzip2", "lua", "picosat", "zopfli", "hash-join", "file-tree"]
# SPDX expressions: identifiers with WITH, AND, OR and brackets.
LICENCE = re.compile(r"\(*[A-Za-z0-9.+-]+\)*( (AND|OR|WITH) \(*[A-Za-z0-9.+-]+\)*)*")

every_recipe = pytest.mark.parametrize("recipe", REGISTRY.names(), indirect=True)


@pytest.fixture
def recipe(request):
    return REGISTRY.get(request.param)


def test_there_are_programs_in_every_group():
    assert {group for recipe in REGISTRY for group in recipe.groups} == set(GROUPS)


@every_recipe
def test_it_says_what_it_is(recipe):
    assert recipe.title
    assert not recipe.title.endswith(".")
    assert recipe.description.endswith(".")
    assert LICENCE.fullmatch(recipe.licence)


@every_recipe
def test_what_is_fetched_is_known_by_its_digest(recipe):
    for release in recipe.source.releases:
        assert release.version
        if recipe.source.kind not in ("own", "user"):
            assert release.artifacts
        files = [artifact.file for artifact in release.artifacts]
        assert len(set(files)) == len(files)
        assert all(re.fullmatch(r"[0-9a-f]{64}", item.sha256) for item in release.artifacts)


@every_recipe
def test_every_patch_has_its_reason(recipe):
    assert all(patch.reason.endswith(".") for patch in recipe.source.patches)


@every_recipe
def test_it_has_all_sizes_each_with_its_checks(recipe):
    assert tuple(recipe.sizes) == SIZES
    for size in recipe.sizes.values():
        assert size.argv
        assert size.checks or recipe.source.kind == "user"


@every_recipe
def test_its_inputs_can_be_made(recipe):
    check_inputs(recipe)


@every_recipe
def test_its_build_leaves_flags_to_the_user(recipe):
    script = recipe.build.script
    assert not re.search(r"-march=native|-O[0-9s](?![\w.])|(^|\s)strip(\s|$)", script)
    if script and set(recipe.languages) & {"c", "c++", "fortran"} and recipe.build.program:
        assert re.search(r"\$\{?(CC|CXX|FC|CFLAGS|CXXFLAGS|FFLAGS)\b|configure|cmake|make", script)


@every_recipe
def test_its_iterations_can_be_read(recipe):
    if recipe.iterations is not None:
        assert recipe.iterations.adapter in ADAPTERS
        about = recipe.iterations.pattern or recipe.iterations.file
        text = recipe.iterations.adapter + (f":{about}" if about else "")
        parse_iterations(text, recipe.iterations.benchmark, recipe.iterations.warmup_count)


@pytest.mark.parametrize("name", BUILT)
def test_a_small_one_is_built_run_and_its_output_checked(name, tmp_path):
    recipe = REGISTRY.get(name)
    need("gcc")
    toolchain = Toolchain(cc="gcc", flags="-O1")
    trial = one_trial(ready_variant(recipe, toolchain))
    assert trial.status == "ok", trial.details
    changed = one_trial(changed_variant(recipe, toolchain, tmp_path))
    assert changed.status == "failed"
    assert changed.reason in ("check", "exit")
