"""Every file that is tracked is read by the checkers of its language, and has its layer."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# Programs that the suite runs as they are: nobody's modules.
PROGRAMS = ("src/steelyard/suite/recipes/", "src/steelyard/suite/shared/")


def told(*words: str) -> list[str]:
    """The lines that a command writes, run in the checkout."""
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def tracked(*patterns: str) -> set[str]:
    """The files of the checkout that git keeps, and that are there."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: git does not know its files")
    return {path for path in told("git", "ls-files", "--", *patterns) if (ROOT / path).exists()}


def test_every_python_file_is_linted():
    ruff = str(Path(sys.executable).with_name("ruff"))
    linted = {
        Path(path).relative_to(ROOT).as_posix() for path in told(ruff, "check", "--show-files")
    }
    assert tracked("*.py") - linted == set()


def test_every_python_file_is_type_checked():
    # That the checker reads as many as are tracked is held by `make check`, which runs it.
    typed = PROJECT["tool"]["basedpyright"]
    folders = {path.partition("/")[0] for path in tracked("*.py")}
    assert folders - set(typed["include"]) == set()
    assert [name for name in typed["exclude"] if "*" in name or tracked(f":(top){name}/*.py")] == []


def test_every_module_is_in_the_graph_that_the_layers_are_held_on():
    expected = set()
    for path in tracked("src/steelyard/*.py"):
        if not path.startswith(PROGRAMS):
            parts = Path(path).relative_to("src").with_suffix("").parts
            expected.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert expected - grimp.build_graph("steelyard").modules == set()


def test_every_room_has_its_layer():
    contracts = {one["id"]: one for one in PROJECT["tool"]["importlinter"]["contracts"]}
    layers = contracts["layers"]
    placed = {room.strip(" ()") for line in layers["layers"] for room in line.split("|")}
    rooms = {
        Path(path).parts[2].removesuffix(".py")
        for path in tracked("src/steelyard/*.py")
        if Path(path).parts[2] != "__init__.py"
    }
    assert rooms - placed == set()
    assert layers["exhaustive"]


@pytest.mark.parametrize(
    ("checked", "patterns"),
    [
        ("C++", ("*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp")),
        ("shell", ("*.sh", ".ci/*")),
    ],
)
def test_every_file_of_the_other_languages_has_its_checker(checked, patterns):
    assert tracked(*patterns) - set(told("tools/check.sh", "--files", checked)) == set()


def test_every_script_says_its_language_by_its_name_or_is_checked_as_shell():
    checked = set(told("tools/check.sh", "--files", "shell"))
    scripts = {
        path
        for path in tracked()
        if not Path(path).suffix and (ROOT / path).read_bytes()[:2] == b"#!"
    }
    assert scripts - checked == set()


def opening_comment(text: str) -> str:
    """The first paragraph of the comment that a header begins with; empty where it has none."""
    text = re.sub(r"\A#pragma once\n+", "", text)
    lines = re.match(r"(?://.*\n)+|/\*[\s\S]*?\*/", text)
    words = re.sub(r"^ *(?:/\*|//+|\*+/?) ?", "", lines[0] if lines else "", flags=re.MULTILINE)
    return " ".join(words.partition("\n\n")[0].split())


@pytest.mark.parametrize(
    ("header", "comment"),
    [
        ("// Reads the\n// table.\n//\n// Twice.\n\n#pragma once\n", "Reads the table."),
        ("#pragma once\n\n// Reads the table.\n#include <span>\n", "Reads the table."),
        ("/* Reads the table.\n *\n * Twice. */\n", "Reads the table."),
        ("#pragma once\n\n#include <span>\n\n/// Reads the table.\n", ""),
    ],
)
def test_the_opening_comment_of_a_header_is_its_first_paragraph(header, comment):
    assert opening_comment(header) == comment


def test_every_native_header_begins_with_a_sentence_that_says_what_it_is_for():
    headers = tracked("native/*.hpp", "native/*.h")
    assert headers
    said = {path: opening_comment((ROOT / path).read_text("utf-8")) for path in headers}
    sentence = re.compile(r"[A-Z]\S*( \S+){3,}[.:]")
    assert {path: text for path, text in said.items() if not sentence.fullmatch(text)} == {}
