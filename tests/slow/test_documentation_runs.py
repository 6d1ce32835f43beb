"""The commands of the pages that fetch programs of the suite, or take minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.delayed import profiled
from tests.documents.lines import PAGES, lines
from tests.integration.conftest import (
    User,
    user,  # noqa: F401
)
from tests.integration.test_documentation_runs import filled, reader, runs  # noqa: F401

# What the quick run leaves to this one.
LONG = ("suite:", "suite build", "examples/events/minimap2.toml", "profile agree", "profile check")
# Whole groups of the suite, tables of hours, and what the page only sketches.
LEFT_OUT = (
    *("suite:native", "suite build native", "--cpus 0 --seed 6", "./lua test.lua"),
    "-c FILE",
)
# One is refused by the machine that lacks what it takes.
STATUSES = {0, 4}


def long_lines(page: Path) -> list[str]:
    return [
        line.small
        for line in lines(page)
        if not line.is_usage
        and any(part in line.text for part in LONG)
        and not any(part in line.text for part in LEFT_OUT)
    ]


CALLS = [(page, text) for page in PAGES for text in long_lines(page)]


@pytest.mark.parametrize(("page", "text"), CALLS, ids=lambda part: str(part)[:70])
def test_a_long_command_of_a_page_ends_well(reader: User, page: Path, text: str) -> None:  # noqa: F811
    if str(page) == "docs/commands/profile.md":
        profiled(reader.home)
    done, _ = runs(reader, text, reader.home)
    assert done.returncode in STATUSES, done.stderr
    assert "Traceback" not in done.stderr
