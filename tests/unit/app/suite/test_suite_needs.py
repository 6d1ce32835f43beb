"""What a program of the suite takes is named by its package, before a compiler's log is."""

from dataclasses import replace

import pytest

from steelyard.app.suite.suite_doctor import needs_of
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.build.run_build import BuildFailedError
from steelyard.core.errors import MissingCapabilityError
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.recipe import BuildRecipe, Requirement
from steelyard.suite.suite_cache import SuiteCache
from tests.needs import need

LACKING = Requirement("no-such-dev", "header", "no/such/header.h")


@pytest.fixture
def recipe():
    need("gcc")
    found = RecipeRegistry().get("hash-join")
    return replace(found, requires=(LACKING,), build=BuildRecipe("exit 1", "program"))


def test_a_build_that_fails_without_a_package_names_the_package(recipe, tmp_path):
    workshop = Workshop(SuiteCache(str(tmp_path / "cache")))
    with pytest.raises(MissingCapabilityError, match=r"apt-get install.* no-such-dev"):
        workshop.ready(recipe, SuiteName("hash-join", size="test"))


def test_what_is_built_in_trials_is_asked_for_before(recipe, tmp_path):
    workshop = Workshop(SuiteCache(str(tmp_path / "cache")))
    with pytest.raises(MissingCapabilityError, match="no-such-dev"):
        workshop.ready(recipe, SuiteName("hash-join", size="test"), build=False)


def test_a_build_that_fails_with_all_packages_says_how(recipe, tmp_path):
    workshop = Workshop(SuiteCache(str(tmp_path / "cache")))
    with pytest.raises(BuildFailedError, match="exit code 1"):
        workshop.ready(replace(recipe, requires=()), SuiteName("hash-join", size="test"))


@pytest.mark.parametrize("has_pip", [True, False])
def test_a_pip_of_the_system_is_asked_for_where_ours_is_missing(monkeypatch, tmp_path, has_pip):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: object() if has_pip and name == "pip" else None
    )
    wanted = {
        need.requirement.wanted for need in needs_of([RecipeRegistry().get("pyperf-queens")], [])
    }
    assert wanted == ({"python3"} if has_pip else {"python3", "pip3"})
