"""Extensions, added by following docs/ARCHITECTURE.md to the letter, in a copy of the package."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import User

ROOT = Path(__file__).parents[2]
GIVEN = re.compile(r"`src/(steelyard/[\w/]+\.py)`:\n\n( *)```python\n(.*?)\n *```", re.DOTALL)


def extensions() -> dict[str, str]:
    """The files that the page has a reader write, by their paths."""
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text("utf-8")
    return {path: textwrap.dedent(text) + "\n" for path, _, text in GIVEN.findall(page)}


@pytest.fixture
def extended(user: User) -> User:
    """A user of a copy of the package to which all of them were added, and nothing else."""
    copy = user.home / "src"
    ignored = shutil.ignore_patterns("__pycache__", "_native")
    shutil.copytree(ROOT / "src", copy, ignore=ignored)
    (copy / "steelyard" / "_native").symlink_to(ROOT / "src" / "steelyard" / "_native")
    for path, text in extensions().items():
        assert not (copy / path).exists()
        (copy / path).write_text(text)
    return User(user.home, {**user.environment, "PYTHONPATH": str(copy)})


def test_the_page_shows_five_kinds_of_extension() -> None:
    folders = {path.rsplit("/", 1)[0].removeprefix("steelyard/") for path in extensions()}
    assert folders == {
        "measure/metrics",
        "host/properties",
        "factors/kinds",
        "harness/adapters",
        "analysis/methods",
    }


def test_what_the_page_has_a_reader_add_works_at_once(
    extended: User, script: Callable[[str], str]
) -> None:
    def answer(*words: str) -> dict[str, object]:
        told = extended.types(*words)
        assert told.status == 0, told.err
        return told.document()

    path = script("echo tick 12.5; echo tick 13.5")
    counted = answer("measure", "--metric", "blocks_out", "--runs", "2", "--json", "-", path)
    assert counted["metric"] == "blocks_out"
    ticks = answer("measure", "--iterations", "tick-lines", "--runs", "2", "--json", "-", path)
    assert str(ticks).count("0.013") > 0
    knobs = answer("host", "status", "--json", "-")["knobs"]
    assert "panic-on-oops" in str(knobs)
    (extended.home / "rows.csv").write_text("a,value\nx,1\nx,2\ny,4\n")
    asked = ("--method", "spread", "--response", "value", "--factors", "a")
    found = answer("analyze", "rows.csv", *asked, "--json", "-")
    assert found["method"] == "spread"
    assert "4.0" in str(found)
    answer("analyze", "rows.csv", *asked, "--html", "spread.html", "--json", "-")
    assert "<h1" in (extended.home / "spread.html").read_text("utf-8")
    (extended.home / "e.toml").write_text(
        '[experiment]\nname = "limits"\nruns = 2\n[[benchmark]]\nname = "p"\n'
        f'command = "{path}"\n[[factor]]\nfactor = "open-files"\nname = "files"\n'
        "levels = [64, 128]\n"
    )
    plan = answer("experiment", "plan", "e.toml", "--json", "-")
    assert plan["factors"] == [{"name": "files", "levels": ["64", "128"]}]
