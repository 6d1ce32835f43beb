"""Every file that fuzzing found, and the seeds, once more: one error, or what keeps the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.errors import SteelyardError
from tests.fuzz.__main__ import MESSAGE_LINES
from tests.fuzz.readers import readers

READERS = readers()
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
            if not 1 <= len(error.message.strip().split("\n")) <= MESSAGE_LINES:
                pytest.fail(f"{name}: {error.message!r}")


@pytest.mark.parametrize("name", READERS)
def test_the_seeds_are_read(name, tmp_path):
    path = tmp_path / READERS[name].name
    assert READERS[name].seeds
    path.write_bytes(READERS[name].seeds[0])
    READERS[name].read(str(path))
