"""Every file that fuzzing found, and the seeds, once more: one error, or what keeps the schema."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.core.errors import SteelyardError
from tests.fuzz.not_fuzzed import NOT_FUZZED
from tests.fuzz.reader import check_message
from tests.fuzz.readers import readers

READERS = readers()
ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "steelyard"
# Run in processes of their own, by recipes of the suite.
PROGRAMS = ("suite/recipes", "suite/shared")
OPENS = {
    *("ELFFile", "ZipFile", "fdopen", "fromfile", "gzip_content", "iterparse", "loadtxt", "memmap"),
    *("mmap", "open", "open_regular", "read_bytes", "read_csv", "read_text"),
}
CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"


@pytest.mark.parametrize("name", READERS)
def test_what_fuzzing_found_is_read_or_refused_in_a_few_lines(name, tmp_path):
    path = tmp_path / READERS[name].name
    found = sorted((CORPUS / name).glob("*"))
    for data in (*READERS[name].seeds, *(file.read_bytes() for file in found)):
        path.write_bytes(data)
        try:
            READERS[name].read(str(path))
        except SteelyardError as error:
            check_message(error.message)


@pytest.mark.parametrize("word", ["q" * 20_000, "q w" * 7_000], ids=["word", "words"])
@pytest.mark.parametrize("name", READERS)
def test_no_message_repeats_a_value_that_is_as_long_as_the_file(name, word, tmp_path):
    path = tmp_path / READERS[name].name
    seed = READERS[name].seeds[0]
    for mark in (b",", b":", b'"', b"\n"):
        parts = seed.split(mark)[:9]
        for place in range(len(parts)):
            longer = [*parts[:place], parts[place] + word.encode(), *parts[place + 1 :]]
            path.write_bytes(mark.join(longer))
            try:
                READERS[name].read(str(path))
            except SteelyardError as error:
                check_message(error.message)


@pytest.mark.parametrize("name", READERS)
def test_the_seeds_are_read(name, tmp_path):
    path = tmp_path / READERS[name].name
    assert READERS[name].seeds
    path.write_bytes(READERS[name].seeds[0])
    READERS[name].read(str(path))


def _is_reading(call: ast.Call) -> bool:
    """Whether a call opens a file, and not for writing alone."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant)]
    writes = any(str(text)[:1] in "wax" for text in texts)
    only_writes = any(getattr(node, "attr", "") == "O_WRONLY" for node in ast.walk(call))
    return name in OPENS and not writes and not only_writes


def _modules_that_open() -> Iterator[str]:
    for path in SOURCES.rglob("*.py"):
        module = path.relative_to(SOURCES).as_posix()
        calls = (
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
        )
        if not module.startswith(PROGRAMS) and any(map(_is_reading, calls)):
            yield module


def test_every_module_that_opens_a_file_is_fuzzed_or_says_why_it_is_not():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.fuzz.reached"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    reached = set(run.stdout.split())
    opening = set(_modules_that_open())
    assert "store/formats/csv.py" in reached
    assert opening - reached - set(NOT_FUZZED) == set(), "add a reader to tests/fuzz/readers.py"
    assert set(NOT_FUZZED) - (opening - reached) == set(), "tests/fuzz/not_fuzzed.py has too much"
