"""Shared libraries that `steelyard c++` builds: they move in programs that move."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from tests.integration.conftest import User, validate
from tests.layout_programs import SOURCES, read_report, require_layout
from tests.layout_programs import run as run_program

require_layout()


@pytest.fixture
def library(user: User) -> str:
    """The path of a shared library."""
    path = str(user.home / "liblibrary.so")
    words = ("-O2", "-std=c++20", "-fPIC", "-shared", str(SOURCES / "library.cpp"), "-o", path)
    told = user.types("c++", *words)
    assert told.status == 0, told.err
    return path


def program(user: User, *words: str) -> str:
    path = str(user.home / "loads")
    told = user.types("c++", "-O2", "-std=c++20", str(SOURCES / "loads.cpp"), *words, "-o", path)
    assert told.status == 0, told.err
    return path


def run(user: User, *argv: str, parts: str) -> tuple[str, list[int], dict[str, Any]]:
    """The output, in how many copies a thread was in each time, and the report."""
    report = str(user.home / "report.json")
    # It goes on until each thread has been in two copies each time.
    argv = (*argv, "1" if parts == "none" else "2")
    done = run_program(*argv, _INTERVAL="1ms", _REPORT=report, **{"": parts})
    document = read_report(report)
    validate(document)
    return done.stdout, [int(word) for word in done.stderr.split()], document


def test_a_library_that_is_linked_moves_with_the_program(user: User, library: str) -> None:
    folder = os.path.dirname(library)
    linked = program(user, "-DLINKED", f"-L{folder}", "-llibrary", f"-Wl,-rpath,{folder}")
    plain, [places], report = run(user, linked, parts="none")
    assert places == 1
    assert report["moving_libraries"] == []
    for parts in ("code", "stack", "code,stack,heap"):
        moved, [places], report = run(user, linked, parts=parts)
        assert moved == plain
        assert places > 1
        [moving] = report["moving_libraries"]
        assert moving["path"] == library
        assert moving["functions"] >= 10
        assert library not in report["libraries"]
        assert any("libc.so" in path for path in report["libraries"])


def test_a_library_that_comes_and_goes_moves_while_it_is_there(user: User, library: str) -> None:
    loads = program(user)
    plain, _, report = run(user, loads, library, parts="none")
    assert plain.count("library goes") == 10
    moved, places, report = run(user, loads, library, parts="code,stack,heap")
    assert moved == plain
    assert len(places) == 10
    assert min(places) >= 2
    assert [moving["path"] for moving in report["moving_libraries"]] == [library]
    # Copies that threads have left are freed, those of a library that is gone among them: how many
    # lie there at a time is the machine's, which may keep a thread from leaving one.
    assert report["copies_freed"] > report["functions"] * report["moves"]


def test_a_library_in_a_program_that_does_not_move_stays(user: User, library: str) -> None:
    path = str(user.home / "plain")
    source = str(SOURCES / "loads.cpp")
    subprocess.run(["clang++-19", "-std=c++20", source, "-o", path], check=True)
    done = subprocess.run([path, library, "1"], capture_output=True, text=True, check=True)
    assert done.stdout.count("library goes") == 10
    assert set(done.stderr.split()) == {"1"}


def test_a_library_is_audited_as_a_program_is(user: User, library: str) -> None:
    told = user.types("layout", "audit", "--json", "-", library)
    functions = {function["name"]: function for function in told.document()["functions"]}
    assert functions["library_throw"]["moves"] is True
    assert functions["_init"]["moves"] is False


def test_a_library_that_lost_its_table_stays_and_says_so(user: User, library: str) -> None:
    loads = program(user)
    subprocess.run(["objcopy", "--remove-section=.steelyard.layout", library], check=True)
    done = run_program(loads, library, "1", _INTERVAL="1ms", **{"": "code"})
    assert done.stdout.count("library goes") == 10
    assert f"a library stays where it is: {library}: it has lost its layout table" in done.stderr
