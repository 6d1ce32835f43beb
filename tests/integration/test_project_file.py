"""`steelyard.toml`: defaults of a project, and its benchmarks by name."""

from __future__ import annotations

import os
import subprocess

import pytest

import steelyard
from tests.integration.conftest import User

COST = r'metric = "cost=regex:cost (\\d+):count"'
FILE = f"""
[defaults]
store = "kept/results.sqlite"
confidence = "99%"
precision = "3%"

[bench.cost]
commands = ["echo cost 10", "echo cost 20"]
name = ["old", "new"]
runs = 10
fail_if = "slower:2%"
{COST}

[bench.here]
command = "./program"
runs = 5
env = {{ A = 1 }}
"""


@pytest.fixture
def project(user: User):
    """A user in a folder of a project with a `steelyard.toml` at its top."""
    (user.home / "kept").mkdir()
    (user.home / "sub").mkdir()
    (user.home / "program").write_text("#!/bin/sh\nexit 0\n")
    (user.home / "program").chmod(0o755)
    subprocess.run(["git", "init", "-q", str(user.home)], check=True)
    (user.home / "steelyard.toml").write_text(FILE)
    user.environment["STEELYARD_CONFIG"] = str(user.home / "steelyard.toml")
    return user


def test_a_benchmark_by_name_is_weighed_with_its_options(project):
    told = project.types("compare", "--bench", "cost", "--json", "-")
    document = told.document()
    assert told.status == 1, told.err
    assert [c["candidate"] for c in document["comparisons"]] == ["new"]
    assert document["comparisons"][0]["ratio"]["confidence"] == 0.99
    assert document["gate"]["passed"] is False
    listed = project.types("list", "--json", "-").document()["experiments"]
    assert [e["trials"] for e in listed] == [20]
    assert (project.home / "kept" / "results.sqlite").exists()


def test_what_the_call_says_goes_first(project):
    told = project.types(
        *("compare", "--bench=cost", "--runs", "12", "--confidence", "90%", "--json", "-"),
        *("--fail-if", "faster"),
    )
    document = told.document()
    assert told.status == 0, told.err
    assert document["variants"][0]["repetitions"]["execution"] == 12
    assert document["comparisons"][0]["ratio"]["confidence"] == 0.9


def test_programs_are_those_of_the_files_folder_wherever_one_calls(project):
    told = project.types("measure", "--bench", "here", "--directory", ".", "--json", "-")
    assert told.status == 0, told.err
    os.rename(project.home / "program", project.home / "sub" / "program")
    told = project.types("measure", "--bench", "here", "--directory", "sub", "--json", "-")
    assert told.status == 0, told.err
    assert project.types("measure", "--bench", "here").status == 2


def test_the_nearest_file_up_to_the_top_of_the_work_tree_holds(project, monkeypatch):
    del project.environment["STEELYARD_CONFIG"]
    assert project.types("compare", "--bench", "cost").status == 1
    (project.home / "steelyard.toml").rename(project.home / "kept" / "steelyard.toml")
    told = project.types("compare", "--bench", "cost")
    assert told.status == 2
    assert "there is none here or above" in told.err


def test_an_empty_variable_leaves_the_file_out(project):
    project.environment["STEELYARD_CONFIG"] = ""
    assert "there is none" in project.types("compare", "--bench", "cost").err
    assert project.types("list", "--json", "-").document()["experiments"] == []


CALLS = {
    "no such benchmark": (("compare", "--bench", "cots"), "Did you mean 'cost'?"),
    "commands beside it": (("compare", "--bench", "cost", "true", "true"), "give none beside it"),
    "two to measure": (("measure", "--bench", "cost"), "2 commands: compare takes it"),
    "given twice": (("measure", "--bench", "here", "--bench", "here"), "Given twice: --bench"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_is_told_what_is_wrong(project, name):
    call, message = CALLS[name]
    told = project.types(*call)
    assert (told.status, message in told.err) == (2, True), told.err


WRONG = {
    "no TOML": ("[defaults", "is not TOML"),
    "unknown table": ("[benches.a]\ncommand = 'x'", "benches means nothing"),
    "unknown default": ("[defaults]\nprecison = '1%'", "Did you mean 'precision'?"),
    "a default that runs something": ("[defaults]\nprepare = 'true'", "defaults.prepare is no"),
    "no command": ("[bench.cost]\nruns = 3", "has a command, or commands"),
    "both": ("[bench.cost]\ncommand = 'a'\ncommands = ['b']", "and not both"),
    "no texts": ("[bench.cost]\ncommands = [1]", "takes texts in a list"),
    "unknown option": ("[bench.cost]\ncommand = 'true'\nrnus = 3", "Did you mean 'runs'?"),
    "wrong kind": ("[bench.cost]\ncommand = 'true'\nquiet = 'x'", "--quiet is on or off"),
    "wrong number": ("[bench.cost]\ncommand = 'true'\nruns = 'x'", "--runs is from "),
    "wrong share": ("[bench.cost]\ncommand = 'true'\nprecision = 'x'", "--precision is from "),
    "an array of tables": ("[[bench]]\ncommand = 'x'", "bench is a table"),
    "a date": ("[bench.cost]\ncommand = 'true'\nruns = 2026-01-01", "takes a text or a number"),
    "deep": ("a = " + "[" * 5000, "is not TOML"),
    "bytes": ("\x00", "is not TOML"),
    "of itself": ("[bench.cost]\ncommand = 'true'\nbench = 'cost'", "no option of measure"),
    "of printing": ("[bench.cost]\ncommand = 'true'\njson = '-'", "no option of measure"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_error_that_names_it(project, name):
    text, message = WRONG[name]
    (project.home / "steelyard.toml").write_text(text)
    told = project.types("measure", "--bench", "cost")
    assert told.status == 2
    assert message in told.err, told.err
    assert "steelyard.toml" in told.err
    assert "Traceback" not in told.err


def test_a_file_that_is_a_pipe_is_refused_and_waited_for_by_nobody(project):
    (project.home / "steelyard.toml").unlink()
    os.mkfifo(project.home / "steelyard.toml")
    told = project.types("measure", "--bench", "here")
    assert told.status == 2
    assert "steelyard.toml" in told.err


def test_python_takes_a_benchmark_by_name_too(project, monkeypatch):
    monkeypatch.setenv("STEELYARD_CONFIG", str(project.home / "steelyard.toml"))
    monkeypatch.setenv("STEELYARD_LOCK", str(project.home / "lock"))
    found = steelyard.compare(bench="cost")
    assert found.verdicts == {"new": "slower"}
    assert not found.passed
    assert len(steelyard.measure(bench="here").means[0].values) == 5


def test_a_projects_budget_ends_the_initial_experiment_of_dimension(user, script):
    script('echo "{\\"value\\": 0.5}"')
    (user.home / "steelyard.toml").write_text('[defaults]\nbudget = "6runs"\n')
    environment = {**user.environment, "STEELYARD_CONFIG": "steelyard.toml"}
    told = type(user)(user.home, environment).types(
        "dimension", "--iterations", "json-lines", "--json", "-", "--", "./program"
    )
    assert told.status in (0, 3), told.err
    assert "--budget" not in told.err
