"""The native parts include each other as the tables of their READMEs say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

NATIVE = Path(__file__).parents[2] / "native"
RUNTIME = NATIVE / "layout" / "runtime"
PARTS_OF_LAYOUT = {"format", "pads", "relinker", "runtime"}
# These may include what they try.
TRYING = {"tests", "fuzz"}


def table(readme: Path) -> list[list[str]]:
    """The rows of the one table of a page, below its heading."""
    rows = re.search(r"^\|---.*\n((?:\|.*\n)+)", readme.read_text("utf-8"), re.MULTILINE)
    assert rows
    return [line.strip("| ").split(" | ") for line in rows[1].splitlines()]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def sources() -> Iterator[Path]:
    for path in NATIVE.rglob("*"):
        if path.suffix in {".hpp", ".h", ".cpp"} and not TRYING & set(
            path.relative_to(NATIVE).parts
        ):
            yield path


def folder_of(path: Path) -> str:
    parts = path.relative_to(NATIVE).parts
    return "/".join(parts[:2] if parts[1] in PARTS_OF_LAYOUT else parts[:1])


def included(path: Path) -> list[str]:
    """The headers of our own that a file includes."""
    return re.findall(r'^#include "(.+)"', path.read_text("utf-8"), re.MULTILINE)


def test_native_parts_include_what_their_table_says_and_nothing_else():
    told = {names_in(row[0])[0]: set(names_in(row[2])) for row in table(NATIVE / "README.md")}
    homes: dict[str, set[str]] = {}
    for path in sources():
        homes.setdefault(path.name, set()).add(folder_of(path))
    used: dict[str, set[str]] = {folder_of(path): set() for path in sources()}
    for path in sources():
        folder = folder_of(path)
        for name in included(path):
            # Some names are in several folders: the folder's own header comes first.
            found = homes.get(name, {name})
            if folder not in found:
                used[folder] |= (found & told.get(folder, set())) or found
    assert used == told


def test_the_runtime_of_moving_programs_includes_nothing_above_its_layer():
    rows = table(RUNTIME / "README.md")
    layer_of = {name: row[0] for row in rows for name in names_in(row[1])}
    assert layer_of.keys() == {path.stem for path in RUNTIME.glob("*.?pp")}
    layers = [row[0] for row in rows]
    for path in RUNTIME.glob("*.?pp"):
        own = layer_of[path.stem]
        for name in {Path(header).stem for header in included(path)} & layer_of.keys():
            other = layer_of[name]
            assert layers.index(own) <= layers.index(other), f"{path.name} includes {name}"
            assert (own, other) != ("copies", "heap"), f"{path.name} includes {name}"


def test_no_header_of_the_runtime_leads_back_to_itself():
    leads = {path.name: set(included(path)) for path in RUNTIME.glob("*.hpp")}
    while leads:
        last = {name for name, others in leads.items() if not others & leads.keys()}
        assert last, f"these headers include each other: {sorted(leads)}"
        leads = {name: others for name, others in leads.items() if name not in last}
