import re

from steelyard.core.identifier import LENGTH, encode_ulid, new_identifier


def test_a_ulid_is_the_published_example():
    # The example in the ULID specification, taken apart into its time and its randomness.
    randomness = bytes.fromhex("d6764c61efb99302bd5b")
    assert encode_ulid(1469922850259, randomness) == "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def test_identifiers_sort_by_the_time_of_their_making():
    earlier = encode_ulid(1_700_000_000_000, b"\xff" * 10)
    later = encode_ulid(1_700_000_000_001, b"\x00" * 10)
    assert earlier < later


def test_the_extremes_keep_their_length():
    assert encode_ulid(0, bytes(10)) == "0" * LENGTH
    assert encode_ulid(2**48 - 1, b"\xff" * 10) == "7" + "Z" * 25


def test_two_identifiers_of_one_millisecond_differ():
    made = {new_identifier(1_700_000_000_000) for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{26}", one) for one in made)
