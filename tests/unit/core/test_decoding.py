import csv
import os

import pytest

from steelyard.core.decoding import decoding, fault_text, number_of, open_regular
from steelyard.core.errors import DataError, UsageError


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (KeyError("values"), "x: it lacks 'values'."),
        (RecursionError("maximum recursion depth exceeded"), "x: it nests too deep."),
        (MemoryError(), "x: it asks for more memory than there is."),
        (OverflowError("int too large"), "x: int too large."),
        (IndexError(), "x: IndexError."),
        (csv.Error("line contains NUL"), "x: line contains NUL."),
        (TypeError("one\nline"), "x: one line."),
    ],
)
def test_whatever_goes_wrong_is_one_error(fault, said):
    with pytest.raises(DataError) as told, decoding("x"):
        raise fault
    assert told.value.message == said


def test_an_error_that_says_what_is_wrong_passes_as_it_is():
    with pytest.raises(UsageError, match="exactly this"), decoding("x"):
        raise UsageError("exactly this")


def test_a_fault_says_no_more_than_a_line():
    assert len(fault_text(ValueError("a" * 10_000))) == 200


@pytest.mark.parametrize("text", ["1", " 1.5 ", "-1e3", "nan"])
def test_what_programs_write_as_numbers_is_read(text):
    assert str(number_of(text)) == str(float(text))


@pytest.mark.parametrize("text", ["1_000", "\u0663", "", "one", "\uff11"])
def test_what_only_python_reads_as_a_number_is_none(text):
    with pytest.raises(ValueError, match=r"."):
        number_of(text)


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(str(tmp_path / name))
