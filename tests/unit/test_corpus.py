"""Every file that fuzzing found, and the seeds, once more: one error, or what keeps the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.errors import SteelyardError
from tests.fuzz.readers import readers

READERS = readers()
CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"


@pytest.mark.parametrize("name", READERS)
def test_what_fuzzing_found_is_read_or_refused_in_one_line(name, tmp_path):
    path = tmp_path / READERS[name].name
    found = sorted((CORPUS / name).glob("*"))
    for data in (*READERS[name].seeds, *(file.read_bytes() for file in found)):
        path.write_bytes(data)
        try:
            READERS[name].read(str(path))
        except SteelyardError as error:
            told = error.message.strip()
            if "\n" in told:
                pytest.fail(f"{name}: {told!r}")


@pytest.mark.parametrize("name", READERS)
def test_the_seeds_are_read(name, tmp_path):
    path = tmp_path / READERS[name].name
    assert READERS[name].seeds
    path.write_bytes(READERS[name].seeds[0])
    READERS[name].read(str(path))
