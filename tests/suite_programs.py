"""Making programs of the suite ready for tests, in a cache that the checkout keeps."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.app.suite.suite_run import trials_of
from steelyard.core.errors import FetchError, MissingCapabilityError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.suite.make_inputs import made_inputs
from steelyard.suite.recipe import Recipe
from steelyard.suite.recipe_expansion import with_argv
from steelyard.suite.suite_cache import SuiteCache
from steelyard.suite.suite_compilers import Toolchain

# Sources are fetched once for a checkout; a cache that is filled already can be named.
CACHE = os.environ.get("STEELYARD_TEST_SUITE_CACHE") or str(
    Path(__file__).parents[1] / "build" / "suite"
)


def ready_variant(recipe: Recipe, toolchain: Toolchain, size: str = "test") -> Variant:
    """The program, ready to run; skips by name what this machine or its network cannot have."""
    asked = SuiteName(recipe.name, toolchain, size)
    try:
        return Workshop(SuiteCache(CACHE)).ready(recipe, asked).variant
    except (FetchError, MissingCapabilityError) as error:
        pytest.skip(f"{recipe.name}: {error.message}")


def changed_variant(recipe: Recipe, toolchain: Toolchain, directory: Path) -> Variant:
    """The same program with one byte of its input changed, or as its recipe says."""
    asked = SuiteName(recipe.name, toolchain, "test")
    workshop = Workshop(SuiteCache(CACHE))
    ready = workshop.ready(recipe, asked)
    size, changed = recipe.sizes["test"], recipe.changed
    if changed.argv is not None:
        place = ready.build.directory if ready.build else ""
        return workshop.variant(recipe, asked, with_argv(size, changed.argv), place)
    made = made_inputs(workshop.cache, recipe, "test")
    inputs = directory / "changed-inputs"
    shutil.copytree(made, inputs)
    target = inputs / (changed.input or size.inputs[0].file)
    data = bytearray(target.read_bytes())
    data[len(data) // 2 if changed.offset is None else changed.offset] ^= 1
    target.write_bytes(data)
    return replace(ready.variant, launch=_moved(ready.variant.launch, made, str(inputs)))


def _moved(launch: LaunchSpec, old: str, new: str) -> LaunchSpec:
    stdin = launch.stdin_file
    return replace(
        launch,
        argv=tuple(word.replace(old, new) for word in launch.argv),
        stdin_file=None if stdin is None else stdin.replace(old, new),
        environment=tuple(
            (name, None if value is None else value.replace(old, new))
            for name, value in launch.environment
        ),
    )


def one_trial(variant: Variant) -> Trial:
    """One run of a variant, with its checks."""
    (trial,) = trials_of(variant, 1)
    return trial
