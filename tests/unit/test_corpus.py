"""Every file that fuzzing found, and the seeds, once more: one error, or what keeps the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.errors import SteelyardError
from tests.fuzz.readers import check_message, readers

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
