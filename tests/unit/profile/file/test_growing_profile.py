"""Profiles that are read while they are written."""

from __future__ import annotations

from pathlib import Path

from steelyard.profile.file.growing_profile import GrowingProfile
from tests.unit.profile.profile_bytes import events, head, mapping, samples


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
