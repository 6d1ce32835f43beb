import hashlib

import pytest

from steelyard.measure.check_output import difference


@pytest.fixture
def compared(tmp_path):
    def compare(found, wanted, comparator="text", **fields):
        (tmp_path / "found").write_bytes(found.encode())
        (tmp_path / "wanted").write_bytes(wanted.encode())
        expected = str(tmp_path / "wanted")
        if comparator == "sha256":
            expected = hashlib.sha256(wanted.encode()).hexdigest()
        check = {"comparator": comparator, "expected": expected, **fields}
        return difference(str(tmp_path / "found"), check)

    return compare


@pytest.mark.parametrize("comparator", ["sha256", "text", "numbers"])
def test_what_is_the_same_has_no_difference(compared, comparator):
    assert compared("a 1\nb 2\n", "a 1\nb 2\n", comparator) is None


def test_a_differing_digest_is_told(compared):
    where = compared("a", "b", "sha256")
    assert hashlib.sha256(b"a").hexdigest() in where
    assert "(1 bytes)" in where


def test_the_first_differing_line_is_told(compared):
    assert compared("a\nb\nc\n", "a\nx\ny\n") == "its output differs in line 2: 'b', not 'x'"


def test_an_output_that_is_too_short_or_too_long_is_told(compared):
    assert compared("a\n", "a\nb\n") == "its output ends before line 2, 'b'"
    assert compared("a\nb\n", "a\n") == (
        "its output goes on with line 2, 'b', where it should have ended"
    )


def test_the_file_that_is_looked_at_is_named(compared):
    assert compared("a", "b", file="out.txt").startswith("out.txt differs in line 1")


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("x = 1.000001\n", "x = 1.0\n", True),
        ("x = 1.001\n", "x = 1.0\n", False),
        ("x = -1e-9 y\n", "x = -1.0000001E-09  y\n", True),
        ("x = 0\n", "x = 1e-300\n", False),
        ("z = 1.0\n", "x = 1.0\n", False),
        ("1 2\n", "1\n", False),
        ("nan\n", "nan\n", True),
        ("nan\n", "1\n", False),
        ("inf\n", "1\n", False),
    ],
)
def test_numbers_may_differ_within_the_tolerance_and_words_may_not(compared, found, wanted, same):
    where = compared(found, wanted, "numbers", tolerance_ratio=1e-5)
    assert (where is None) == same


@pytest.mark.parametrize("comparator", ["sha256", "text", "numbers"])
def test_lines_that_are_ignored_do_not_count(compared, comparator):
    found, wanted = "took 3 s\na\ntook 4 s\n", "a\n"
    assert compared(found, wanted, comparator, ignore="^took") is None
    assert compared(found, wanted, comparator, ignore="^took 3") is not None


def test_a_file_that_is_not_there_is_told(tmp_path):
    check = {"comparator": "sha256", "expected": "0" * 64, "file": "out"}
    assert "No such file" in difference(str(tmp_path / "none"), check)


def test_bytes_that_are_no_text_are_compared(tmp_path):
    (tmp_path / "found").write_bytes(b"\xff\x00\n")
    (tmp_path / "wanted").write_bytes(b"\xfe\x00\n")
    check = {"comparator": "text", "expected": str(tmp_path / "wanted")}
    assert difference(str(tmp_path / "wanted"), check) is None
