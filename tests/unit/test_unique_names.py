"""A name is unique in the tree, but for the words that a contract gives to files."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
# What a contract calls a file wherever it stands: Python, pytest, the parts of a kind of answer
# (docs/adr/0016-a-folder-for-each-kind-of-answer.md), a native program's entry and its options.
CONTRACT_WORDS = {
    *("__init__", "__main__", "conftest"),
    *("document", "text", "page", "rendering", "tables", "sentences"),
    *("main", "options"),
    "env",  # Alembic runs migrations by it.
}
# Belongs to measured programs, whose authors name it; or is the same file again.
FOREIGN = (
    "src/steelyard/suite/recipes/",
    "src/steelyard/suite/shared/",
    "examples/",
    "tests/data/",
)
SOURCES = {".py", ".cpp", ".hpp", ".h", ".c"}


def tracked() -> list[PurePosixPath]:
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
    paths = [PurePosixPath(line) for line in listed.splitlines() if not line.startswith(FOREIGN)]
    return [path for path in paths if path.suffix in SOURCES]


def folders_of_extensions() -> set[str]:
    """Those of the table in docs/ARCHITECTURE.md: a file there is called as its extension is."""
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text("utf-8")
    table = text.split("## Extensions")[1].split("\n\n")[2]
    rows = [line.split("|")[2] for line in table.splitlines()[2:]]
    return {f"src/steelyard/{name}" for row in rows for name in re.findall(r"`([\w/]+)/`", row)}


def where(path: PurePosixPath, extensions: set[str]) -> tuple[str, str]:
    """What a name has to be unique in, and the name there."""
    kind = "Python" if path.suffix == ".py" else path.suffix
    if path.name.startswith("test_"):
        # A test is called as what it tries is; the folder says how it tries that.
        return "/".join(path.parts[:2]), path.stem.removeprefix("test_")
    if path.name.endswith("_command.py") or path.stem.endswith("_test"):
        return str(path.parent), path.stem
    if str(path.parent) in extensions:
        return kind, f"{path.stem} (extension)"
    return kind, path.stem


def doubled(paths: Iterable[PurePosixPath]) -> dict[str, list[str]]:
    extensions = folders_of_extensions()
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in paths:
        place, name = where(path, extensions)
        if name in CONTRACT_WORDS:
            continue
        plain = name.removesuffix(" (extension)")
        # Several kinds of extensions may be about one thing, and nothing else is called as it.
        found[place, plain].add("an extension" if plain != name else str(path))
    return {name: sorted(where) for (_, name), where in found.items() if len(where) > 1}


def test_a_name_is_unique_but_for_the_words_of_contracts() -> None:
    paths = tracked()
    assert len(paths) > 1000
    assert doubled(paths) == {}


def test_a_module_that_is_called_as_another_one_is_told() -> None:
    paths = ["src/steelyard/core/units.py", "src/steelyard/web/units.py"]
    assert doubled(map(PurePosixPath, paths)) == {"units": paths}


def test_a_module_that_is_called_as_an_extension_is_told() -> None:
    metric, other = "src/steelyard/measure/metrics/cycles.py", "src/steelyard/core/cycles.py"
    assert "cycles" in doubled(map(PurePosixPath, [metric, other]))


def test_extensions_of_several_kinds_may_have_one_name() -> None:
    folders = ("harness/adapters", "store/formats")
    assert doubled(PurePosixPath(f"src/steelyard/{folder}/jmh.py") for folder in folders) == {}
