"""Profiles that are read while they are written."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from steelyard.profile.file.growing_profile import GrowingProfile
from steelyard.profile.file.profile_file import RawProfile, read_profile
from tests.unit.profile.profile_bytes import chunk, events, head, mapping, samples


def sample(time_ns: int):
    return (time_ns, 5, 5, 0, 0, 0x1000, ())


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_each_sample_is_given_once_with_all_that_was_told_of_processes_before(tmp_path):
    path = tmp_path / "profile"
    growing = GrowingProfile(str(path))
    assert growing.take() is None
    path.write_bytes(head(id="a") + events(mapping(1, 5, 0x1000, 64, 0, "/p")))
    assert growing.take() is None
    append(path, samples(sample(20), sample(10)))
    raw = growing.take()
    assert raw is not None
    assert raw.samples["time_ns"].tolist() == [10, 20]
    assert growing.take() is None
    append(path, events(mapping(2, 5, 0x2000, 64, 0, "/q")) + samples(sample(30)))
    raw = growing.take()
    assert raw is not None
    assert raw.samples["time_ns"].tolist() == [30]
    assert [one.path for one in raw.mappings] == ["/p", "/q"]


def test_a_chunk_that_is_being_written_waits_until_it_is_whole(tmp_path):
    path, whole = tmp_path / "profile", samples(sample(10), sample(20))
    growing = GrowingProfile(str(path))
    path.write_bytes(head(id="a") + samples(sample(5)) + whole[:30])
    raw = growing.take()
    assert raw is not None
    assert raw.samples["time_ns"].tolist() == [5]
    append(path, whole[30:])
    raw = growing.take()
    assert raw is not None
    assert raw.samples["time_ns"].tolist() == [10, 20]
    assert raw.damage is None


def test_what_the_file_has_of_an_older_recording_is_not_read(tmp_path):
    path = tmp_path / "profile"
    path.write_bytes(head(id="old") + samples(sample(1)))
    growing = GrowingProfile(str(path))
    assert growing.take() is None
    path.write_bytes(head(id="new") + samples(sample(2)))
    raw = growing.take()
    assert raw is not None
    assert raw.samples["time_ns"].tolist() == [2]


def test_a_recording_that_goes_on_in_another_file_is_followed(tmp_path):
    path = tmp_path / "profile"
    growing = GrowingProfile(str(path))
    path.write_bytes(head(id="a") + samples(sample(1)))
    assert growing.take() is not None
    (tmp_path / "profile.1").write_bytes(head(id="a") + samples(sample(2)))
    (tmp_path / "profile.2").write_bytes(head(id="older") + samples(sample(3)))
    raw = growing.take()
    assert raw is not None
    assert raw.samples["time_ns"].tolist() == [2]


def words(*values: int) -> bytes:
    return chunk(b"WORD", struct.pack(f"<{len(values)}Q", *values))


MARKED = head(id="a", path_map={"path": "m", "program": "p", "build": "ab", "marks": "carried"})
BATCHES = (
    samples(sample(10), sample(20)) + words(7, 8),
    samples(sample(30)),
    events(mapping(2, 5, 0x2000, 64, 0, "/q")),
    samples(sample(40)) + words(9),
    samples(sample(50), sample(60)) + words(5, 6),
)


def values_given(raw: RawProfile | None) -> list[tuple[int, int]]:
    if raw is None:
        return []
    return list(zip(raw.samples["time_ns"].tolist(), raw.frame_words.tolist(), strict=True))


@pytest.mark.parametrize("step_bytes", [1, 7, 100])
def test_each_sample_keeps_its_word_wherever_the_file_is_split_between_looks(tmp_path, step_bytes):
    path = tmp_path / "profile"
    growing = GrowingProfile(str(path))
    whole = MARKED + b"".join(BATCHES)
    given: list[tuple[int, int]] = []
    path.write_bytes(b"")
    for begin in range(0, len(whole), step_bytes):
        append(path, whole[begin : begin + step_bytes])
        given += values_given(growing.take())
    given += values_given(growing.take(is_over=True))
    assert given == [(10, 7), (20, 8), (30, 0), (40, 9), (50, 5), (60, 6)]
    assert values_given(read_profile(str(path))) == given


def test_words_in_the_next_file_belong_to_the_samples_before(tmp_path):
    path = tmp_path / "profile"
    growing = GrowingProfile(str(path))
    path.write_bytes(MARKED + samples(sample(10)))
    assert growing.take() is None
    (tmp_path / "profile.1").write_bytes(MARKED + words(7))
    assert values_given(growing.take()) == [(10, 7)]


def test_the_last_samples_are_given_at_the_end_where_no_words_follow(tmp_path):
    path = tmp_path / "profile"
    growing = GrowingProfile(str(path))
    path.write_bytes(MARKED + samples(sample(10)))
    assert growing.take() is None
    assert values_given(growing.take(is_over=True)) == [(10, 0)]
    assert growing.take(is_over=True) is None
