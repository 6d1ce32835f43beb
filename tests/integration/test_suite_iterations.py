"""Programs of the suite with a harness inside: their recipes say how iterations are read."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.conftest import User

RECIPE = """
name = "{name}"
title = "Counts"
description = "Writes as many iterations as it is asked for."
languages = ["c"]
licence = "Apache-2.0"
groups = ["native"]

[source]
kind = "own"
{iterations}
[changed]
argv = ["/bin/echo", "other"]

[run]
argv = ["/bin/sh", "{{build}}/own/count"]
check = [{{ comparator = "sha256", expected = "{digest}" }}]

[sizes]
test = {{}}
train = {{}}
ref = {{}}
"""
SCRIPT = """
i=0
while [ $i -lt ${STEELYARD_ITERATION_COUNT:-2} ]; do
  i=$((i + 1))
  [ -z "$STEELYARD_ITERATIONS" ] || echo "{\\"value\\": 0.00$i}" >> "$STEELYARD_ITERATIONS"
done
echo done
"""
DIGEST = hashlib.sha256(b"done\n").hexdigest()


@pytest.fixture
def owner(user: User, tmp_path: Path) -> User:
    """A user with two recipes of their own: `counted` has a harness, `plain` has none."""
    own = {"STEELYARD_SUITE_CACHE": "cache", "XDG_CONFIG_HOME": "config"}
    places = {name: str(tmp_path / place) for name, place in own.items()}
    user = replace(user, environment={**user.environment, **places})
    for name, text in (("counted", '[iterations]\nadapter = "json-lines"'), ("plain", "")):
        folder = user.home / name
        folder.mkdir()
        (folder / "count").write_text(SCRIPT)
        recipe = user.home / f"{name}.toml"
        recipe.write_text(RECIPE.format(name=name, iterations=text, digest=DIGEST))
        assert user.types("suite", "add", str(recipe)).status == 0
    return user


def test_iterations_are_read_as_the_recipe_says_and_as_many_as_asked_for(owner: User) -> None:
    options = ("--runs", "2", "--json", "-")
    told = owner.types("measure", "suite:counted", "--repeat", "iteration=3", *options)
    assert told.status == 0, told.err
    document = told.document()
    assert document["metric"] == "iteration_time"
    assert document["variants"][0]["repetitions"]["iteration"] == 3
    mean = document["variants"][0]["metrics"]["iteration_time"]["mean"]["estimate"]
    assert mean == pytest.approx(0.002)


def test_a_program_without_a_harness_has_no_iterations_to_count(owner: User) -> None:
    told = owner.types("measure", "suite:plain", "--repeat", "iteration=3", "--runs", "2")
    assert told.status == 2
    assert "--repeat iteration goes with --iterations only" in told.err


@pytest.mark.parametrize("names", [("counted", "plain"), ("plain", "counted")])
def test_an_experiment_takes_whole_executions_where_not_all_have_one_harness(
    owner: User, names: tuple[str, str]
) -> None:
    benchmarks = "".join(f'[[benchmark]]\nprogram = "suite:{name}"\n' for name in names)
    factor = '[[factor]]\nfactor = "nice"\nlevels = [0, 1]\n'
    (owner.home / "e.toml").write_text(f"[experiment]\nruns = 2\n{benchmarks}{factor}")
    told = owner.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 0, told.err
    shown = owner.types("show", "latest", "--json", "-").document()["specification"]
    assert shown["metrics"][0]["name"] == "wall_time"
    assert shown["iterations"] is None
