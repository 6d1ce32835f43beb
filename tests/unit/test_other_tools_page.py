"""The page of checks beside other tools has a row for each format, and names checks that exist."""

import re
from pathlib import Path

from steelyard.store.formats import FORMATS

PAGE = Path("docs/other-tools.md").read_text("utf-8")
TESTS = "\n".join(path.read_text("utf-8") for path in Path("tests/integration").glob("test_*.py"))


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of each row of a table, by the formats in its first cell."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: row for row in cells for name in re.findall(r"`([^`]+)`", row[0])}


def test_each_format_that_is_read_has_a_row():
    assert set(rows("Read")) == {one.name for one in FORMATS if one.read is not None}


def test_each_format_that_is_written_has_a_row():
    assert set(rows("Written")) == {one.name for one in FORMATS if one.write is not None}


def test_each_row_says_its_kind_of_check_and_names_one_that_exists():
    for row in (*rows("Read").values(), *rows("Written").values()):
        _formats, tool, check, by = row
        assert tool
        assert check.startswith(("run: ", "sample: ", "source: ", "written and read", "as above"))
        name = by.strip("`")
        assert Path(name).exists() or f"def {name}(" in TESTS, name
