import cProfile
import marshal
import pstats
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.errors import DataError
from steelyard.profile.marshalled import DEEPEST, LONGEST_TEXT_BYTES, read_marshalled
from steelyard.profile.profilers import PROFILERS

texts = st.text(max_size=300)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
keys = st.tuples(texts, st.integers(0, 10**6), texts)
rows = st.tuples(numbers, numbers, numbers, numbers, st.dictionaries(keys, st.tuples(numbers)))


@given(st.dictionaries(keys, rows))
def test_what_marshal_writes_reads_back_as_it_was(table):
    assert read_marshalled(marshal.dumps(table)) == table


@given(st.dictionaries(keys, rows, min_size=1), st.integers(0, 10**6))
def test_what_is_cut_off_is_refused(table, at):
    data = marshal.dumps(table)
    with pytest.raises(ValueError, match="cut off"):
        read_marshalled(data[: at % len(data)])


def test_a_profile_of_cprofile_reads_as_pstats_reads_it(tmp_path):
    path = str(tmp_path / "profile")
    profile = cProfile.Profile()
    profile.runcall(sorted, [3, 1, 2], key=lambda value: -value)
    profile.dump_stats(path)
    with open(path, "rb") as file:
        assert read_marshalled(file.read()) == pstats.Stats(path).stats


HOSTILE = {
    "a tuple of 2^31 - 1 items": b"\xa8\xff\xff\xff\x7f",
    "a text of 2^31 - 1 bytes": b"u\xff\xff\xff\x7f",
    "a number of 2^31 - 1 digits": b"l\xff\xff\xff\x7f",
    "a negative length": b"(\xff\xff\xff\xff",
    "nesting without end": b")\x01" * 500_000,
    "tables in tables": b"{" * 500_000,
    "a tuple that holds itself": b"\xa9\x01r\x00\x00\x00\x00",
    "a reference to nothing": b"r\x05\x00\x00\x00",
    "a negative reference": b"r\xff\xff\xff\xff",
    "code": marshal.dumps(compile("1", "p", "exec")),
    "a set": marshal.dumps({1, 2}),
    "a list": marshal.dumps([1]),
    "bytes": marshal.dumps(b"1"),
    "a text that is too long": marshal.dumps("a" * (LONGEST_TEXT_BYTES + 1)),
    "a key twice": b"{i\1\0\0\0Ni\1\0\0\0N0",
    "a key that is a table": b"{{0N0",
    "a key of nothing": b"{NN0",
    "text that is no UTF-8": b"u\x01\0\0\0\xff",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_clear_error_and_takes_no_memory(name, tmp_path):
    path = tmp_path / "profile"
    path.write_bytes(HOSTILE[name])
    tracemalloc.start()
    with pytest.raises(DataError, match=r"is not a profile of cProfile, or was cut off: .") as told:
        PROFILERS.get("cprofile").read(str(path), ())
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "\n" not in told.value.message
    assert most_bytes < 10_000_000


ROW = (1, 1, 0.5, 0.5, {})
OTHER_TABLES = {
    "no table": (1, 2),
    "a key that is no function": {("p.py", 1): ROW},
    "a line that is true": {("p.py", True, "f"): ROW},
    "a row of three": {("p.py", 1, "f"): (1, 1, 0.5)},
    "a time that is a text": {("p.py", 1, "f"): (1, 1, "0.5", 0.5, {})},
    "a time that is true": {("p.py", 1, "f"): (1, 1, True, 0.5, {})},
    "callers in no table": {("p.py", 1, "f"): (1, 1, 0.5, 0.5, ())},
    "a caller that is a number": {("p.py", 1, "f"): (1, 1, 0.5, 0.5, {3: (1, 1, 0.5, 0.5)})},
}


@pytest.mark.parametrize("name", OTHER_TABLES)
def test_another_table_than_cprofiles_is_refused(name, tmp_path):
    path = tmp_path / "profile"
    path.write_bytes(marshal.dumps(OTHER_TABLES[name]))
    with pytest.raises(DataError, match="is not a profile of cProfile"):
        PROFILERS.get("cprofile").read(str(path), ())


def test_a_table_cannot_be_referred_to_again():
    # The callers of one row would be those of all others: any number of pairs of some bytes.
    data = b"{" + b"i\1\0\0\0" + b"\xfb0" + b"i\2\0\0\0" + b"r" + struct.pack("<i", 0) + b"0"
    with pytest.raises(ValueError, match="which is none"):
        read_marshalled(data)


def test_tuples_nest_as_deep_as_a_profile_and_not_much_deeper():
    value = ()
    for _ in range(DEEPEST):
        value = (value,)
    assert read_marshalled(marshal.dumps(value)) == value
    with pytest.raises(ValueError, match="too deep"):
        read_marshalled(marshal.dumps((value,)))
