"""What plans of programs of the suite say, and that they fetch, build and make nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import User

FILE = """
[experiment]
runs = 2

[[benchmark]]
command = "suite:{name}"
"""
FACTOR = """
[[factor]]
factor = "flags"
levels = ["-O1", "-O2"]
"""


def planned(user: User, name: str, more: str = "") -> None:
    (user.home / "e.toml").write_text(FILE.replace("{name}", name) + more)


def cached(user: User) -> list[Path]:
    root = Path(user.environment["XDG_CACHE_HOME"])
    return [path for path in root.rglob("*") if path.is_file()]


# One in C with a makefile, one that is built from sources of the package, one that is interpreted.
@pytest.mark.parametrize("name", ["bzip2", "hash-join", "pyperf-queens"])
def test_a_plan_of_a_program_of_the_suite_leaves_the_cache_empty(user: User, name: str) -> None:
    planned(user, name)
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert (document["trials"], document["refused"]) == (2, [])
    assert cached(user) == []


def test_a_dry_run_names_the_program_where_it_will_lie_and_makes_nothing(user: User) -> None:
    planned(user, "bzip2")
    told = user.types("experiment", "run", "e.toml", "--dry-run")
    assert "{suite}/bzip2" in told.out
    assert (told.err, cached(user)) == ("", [])


def test_a_plan_that_varies_builds_builds_none(user: User) -> None:
    planned(user, "bzip2", FACTOR)
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert document["factors"] == [{"name": "flags", "levels": ["-O1", "-O2"]}]
    assert cached(user) == []


def test_a_plan_names_the_package_of_what_a_program_lacks(user: User, tmp_path: Path) -> None:
    # As on a machine without a compiler: nothing is on the path but what starts this command.
    tools = tmp_path / "tools"
    tools.mkdir()
    planned(user, "bzip2")
    user.environment["PATH"] = str(tools)
    told = user.types("experiment", "plan", "e.toml")
    assert told.status == 4
    assert "bzip2 takes what is not installed" in told.err
    assert "apt-get install" in told.err
    assert cached(user) == []


@pytest.mark.parametrize("command", ["measure", "compare"])
def test_a_run_says_which_programs_it_builds_and_only_when_it_does(
    user: User, command: str
) -> None:
    name = "suite:hash-join"
    words = (command, *[name] * (1 if command == "measure" else 2), "--runs", "2")
    first, again = (user.types(*words) for _ in range(2))
    assert first.err.count("building hash-join") == 1
    assert "building" not in again.err


def test_a_study_of_the_machine_builds_its_program_aloud_and_plans_it_without(user: User) -> None:
    words = ("host", "study", "--knob", "aslr", "--runs", "3")
    told = user.types(*words, "--dry-run", "--", "suite:hash-join")
    assert (told.status, "building" in told.err) == (0, False)
    assert cached(user) == []
    told = user.types(*words, "--", "suite:hash-join")
    assert told.err.count("building hash-join") == 1
