"""Fetch programs of the suite, and tell in one message what could not be had."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.core.errors import FetchError, MissingCapabilityError, SuiteError
from steelyard.suite.artifacts import fetch, fetched_release, missing_artifacts
from steelyard.suite.outcomes import FetchOutcome
from steelyard.suite.recipe import Recipe
from steelyard.suite.suite_cache import SuiteCache


def fetch_into_cache(
    recipes: Sequence[Recipe], say: Callable[[str], None]
) -> tuple[list[FetchOutcome], SuiteCache]:
    """Fetch the sources of programs into the user's cache, as `fetch_programs` does."""
    cache = SuiteCache()
    return fetch_programs(recipes, cache, say), cache


def fetch_programs(
    recipes: Sequence[Recipe], cache: SuiteCache, say: Callable[[str], None]
) -> list[FetchOutcome]:
    """Fetch the sources of programs; one that cannot be had does not keep the others."""
    outcomes: list[FetchOutcome] = []
    for recipe in recipes:
        if fetched_release(cache, recipe) is None:
            say(f"fetching {recipe.name}")
        try:
            fetched = fetch(cache, recipe, intact=True)
        except (SuiteError, MissingCapabilityError) as error:
            outcomes.append(FetchOutcome(recipe, problem=error.message))
        else:
            version = fetched.release.version
            outcomes.append(FetchOutcome(recipe, version, fetched.fetched_bytes))
    return outcomes


def refuse_missing(outcomes: Sequence[FetchOutcome], cache: SuiteCache) -> None:
    """Raise one error for all that could not be fetched, if anything could not.

    Raises
    ------
    FetchError
        Its message has the artifacts that are missing by program, and what to run.
    """
    failed = [outcome for outcome in outcomes if outcome.version is None]
    if not failed:
        return
    if len(failed) == 1:
        raise FetchError(failed[0].problem)
    missing = "; ".join(
        f"{outcome.recipe.name}: {', '.join(_missing_files(outcome.recipe, cache))}"
        for outcome in failed
    )
    reasons = list(dict.fromkeys(outcome.problem for outcome in failed))
    names = " ".join(outcome.recipe.name for outcome in failed)
    raise FetchError(
        f"{len(failed)} of {len(outcomes)} programs could not be fetched. Missing: {missing}. "
        f"The first reason: {reasons[0]} Where the network is, run `steelyard suite fetch "
        f"{names}`; another machine's cache does as well, copied to {cache.root}."
    )


def _missing_files(recipe: Recipe, cache: SuiteCache) -> list[str]:
    return [
        artifact.file for artifact in missing_artifacts(cache, recipe, recipe.source.releases[0])
    ]
