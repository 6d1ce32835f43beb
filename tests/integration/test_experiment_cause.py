"""Explanations that are put to the test by holding what should carry the effect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import User
from tests.integration.killing import kill_while_waiting, waiting_in

# Its answer depends on the size of the environment, unless it is told to hold that.
PROGRAM = """
if [ -n "$1" ]; then size=100; else size=$(printf %s "$STEELYARD_PADDING" | wc -c); fi
echo "units $((1000 + size)) size $size"
"""
METRICS = ("--metric", "units=units ([0-9]+):units", "--metric", "size=size ([0-9]+):bytes")
FACTOR = ("--factor", "environment-size", "--levels", "100,200,300", "--runs", "3", "--seed", "1")


@pytest.fixture
def program(script: Callable[[str], str]) -> str:
    return script(PROGRAM)


def test_an_effect_that_goes_supports_the_explanation(user: User, program: str) -> None:
    told = user.types(
        "experiment", "cause", *FACTOR, *METRICS, "--instead", f"{program} held",
        "--intermediate", "size", "--html", "page.html", "--plots", "plots", "--json", "-",
        "--", program,
    )  # fmt: skip
    document = told.document()
    assert (document["verdict"], document["blocks"]) == ("supported", 3)
    assert document["levels"] == ["100", "200", "300"]
    assert document["intermediate"]["moves"]
    assert document["intermediate"]["rests"]
    assert document["arms"][0]["means"] == [1100, 1200, 1300]
    assert "the explanation stands" in (user.home / "page.html").read_text()
    assert {path.suffix for path in (user.home / "plots").iterdir()} == {".png", ".svg"}


def test_an_effect_that_stays_does_not(user: User, program: str) -> None:
    told = user.types(
        "experiment", "cause", *FACTOR, *METRICS, "--intervene", "aslr=off", "--", program
    )
    assert "not supported" in told.out
    assert "it comes another way" in told.out


FILE = """
[experiment]
runs = 3
metrics = ["units=units ([0-9]+):units"]

[[benchmark]]
command = ["./program"]

[cause]
factor = "environment-size"
draw = {count = 4, minimum = 16, maximum = 2000}
intervention = {aslr = "off", stack-hold = 4000}
"""


def test_a_file_is_planned_run_and_analysed_again_from_the_store(user: User, program: str) -> None:
    (user.home / "e.toml").write_text(FILE)
    plan = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert plan["trials"] == 24
    assert plan["factors"][-1] == {"name": "intervention", "levels": ["without", "with"]}
    first = user.types("experiment", "cause", "--file", "e.toml", "--json", "-").document()
    again = user.types(
        "experiment", "analyze", "--method", "cause", "--json", "-",
        "--factors", "environment-size,intervention",
    ).document()  # fmt: skip
    assert again["arms"] == first["arms"]
    assert len(first["levels"]) == 4


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("draw =", "drow =", "drow"),
        ('factor = "environment-size"', "", "cause.factor: it is missing"),
        ('factor = "environment-size"', 'factor = "aslr"', "aslr takes count"),
        ("stack-hold = 4000", "stack-hold = 9000", "whole number from 0 to 4000"),
        ('{aslr = "off", stack-hold = 4000}', "{}", "factors to hold"),
        ("stack-hold = 4000", "environment-size = 4", "which is what is varied"),
        ("draw = {count = 4,", "draw = {count = 1,", "count (2 or more)"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(
    user: User, program: str, old: str, new: str, wanted: str
) -> None:
    (user.home / "e.toml").write_text(FILE.replace(old, new))
    told = user.types("experiment", "cause", "--file", "e.toml")
    assert told.status == 2
    assert wanted in told.err
    assert "line " in told.err


def test_a_stack_held_above_the_environment_is_refused_before_anything_runs(
    user: User, program: str
) -> None:
    told = user.types(
        "experiment", "cause", *FACTOR, "--intervene", "stack-hold=150", "--", program
    )
    assert told.status == 2
    assert "padded by 200" in told.err
    assert not Path(user.home / "data" / "steelyard" / "journals").exists()


@pytest.mark.parametrize("trial", [1, 7, 18])
def test_a_killed_causal_analysis_goes_on_and_is_answered_from_the_store(
    user: User, script: Callable[[str], str], trial: int
) -> None:
    program = script(waiting_in(trial) + PROGRAM)
    process = user.start(
        "experiment", "cause", *FACTOR, *METRICS, "--instead", f"{program} held", "--", program
    )
    kill_while_waiting(user, process)
    kept = user.types("show", "latest", "--trials", "--json", "-").document()["trials"]
    assert [one["status"] for one in kept] == ["ok"] * (trial - 1)
    resumed = user.types("experiment", "resume", "latest")
    assert resumed.status == 0, resumed.err
    assert "experiment cause --experiment" in resumed.err
    again = user.types(
        "experiment", "cause", "--experiment", "latest", "--intermediate", "size", "--json", "-"
    ).document()
    assert (again["verdict"], again["blocks"]) == ("supported", 3)
    assert again["arms"][0]["means"] == [1100, 1200, 1300]
    assert again["intermediate"]["name"] == "size"


def test_only_causal_experiments_are_answered_as_such(user: User, program: str) -> None:
    assert user.types("measure", "--runs", "2", "--", program).status == 0
    told = user.types("experiment", "cause", "--experiment", "latest")
    assert told.status == 2
    assert "is no causal experiment" in told.err
    both = user.types("experiment", "cause", "--experiment", "latest", "--", program)
    assert "Give one of --file" in both.err
