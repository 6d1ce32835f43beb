import numpy as np
import pytest

from steelyard.core.errors import DataError
from steelyard.profile.file.profile_file import read_profile
from tests.unit.profile import profile_bytes as made


def written(tmp_path, *parts, name="a.profile"):
    path = tmp_path / name
    path.write_bytes(b"".join(parts))
    return str(path)


def sample_at(time_ns, **changes):
    values = {"process": 5, "thread": 5, "cpu": 0, "kernel": 0, "address": 0x1000, "chain": ()}
    return (time_ns, *{**values, **changes}.values())


def test_a_whole_profile_is_read_as_it_was_written(tmp_path):
    path = written(
        tmp_path,
        made.head(),
        made.events(
            made.naming(1, 5, 5, "program", after_exec=True),
            made.mapping(2, 5, 0x1000, 0x2000, 0x400, "/bin/program"),
            made.start(3, 5, 6, 5, 5),
            made.end(9, 5, 6),
            made.lost(4),
        ),
        made.samples(sample_at(4), sample_at(5, thread=6, kernel=1)),
        made.events(made.summary(samples=2, scope="cpus")),
    )
    raw = read_profile(path)
    assert raw.header["seed"] == 7
    assert raw.samples["time_ns"].tolist() == [4, 5]
    assert raw.samples["in_kernel"].tolist() == [0, 1]
    assert raw.mappings[0].path == "/bin/program"
    assert raw.names[0].after_exec
    assert raw.starts[0].parent_thread == 5
    assert raw.lost_count == 4
    assert raw.summary == {"samples": 2, "scope": "cpus"}
    assert raw.damage is None


def test_samples_of_several_cpus_come_in_the_order_of_time_with_their_chains(tmp_path):
    path = written(
        tmp_path,
        made.head(),
        made.samples(sample_at(7, chain=(70, 71)), sample_at(9, chain=(90,))),
        made.samples(sample_at(8, cpu=1, chain=(80, 81, 82))),
        made.events(made.summary()),
    )
    raw = read_profile(path)
    assert raw.samples["time_ns"].tolist() == [7, 8, 9]
    assert raw.chains.tolist() == [70, 71, 80, 81, 82, 90]


@pytest.mark.parametrize("cut_bytes", [1, 5, 40])
def test_a_file_that_was_cut_off_is_read_up_to_its_last_flush(tmp_path, cut_bytes):
    whole = made.samples(sample_at(4))
    path = written(tmp_path, made.head(), whole, made.samples(sample_at(5))[:-cut_bytes])
    raw = read_profile(path)
    assert raw.samples["time_ns"].tolist() == [4]
    assert "ends inside a chunk" in (raw.damage or "")


def test_a_flipped_byte_ends_the_reading_and_is_told_of(tmp_path):
    second = bytearray(made.samples(sample_at(5)))
    second[-1] ^= 1
    path = written(tmp_path, made.head(), made.samples(sample_at(4)), bytes(second))
    raw = read_profile(path)
    assert len(raw.samples) == 1
    assert "damaged at byte" in (raw.damage or "")


def test_a_recording_without_its_end_says_that_it_was_cut_off(tmp_path):
    raw = read_profile(written(tmp_path, made.head(), made.samples(sample_at(4))))
    assert "cut off" in (raw.damage or "")


def test_a_rotated_profile_is_read_as_one_even_without_its_oldest_part(tmp_path):
    path = written(tmp_path, made.head(), made.samples(sample_at(4)))
    written(tmp_path, made.head(), made.samples(sample_at(5)), name="a.profile.1")
    written(
        tmp_path,
        made.head(),
        made.samples(sample_at(6)),
        made.events(made.summary()),
        name="a.profile.2",
    )
    assert read_profile(path).samples["time_ns"].tolist() == [4, 5, 6]
    (tmp_path / "a.profile").unlink()
    assert np.array_equal(read_profile(path).samples["time_ns"], [5, 6])


@pytest.mark.parametrize(
    "content", [b"", b"PERFILE2 and more", b"{}", b"STEELYARD-PROFILE 2\n{}\n"]
)
def test_a_file_of_another_tool_is_refused_by_its_name(tmp_path, content):
    with pytest.raises(DataError, match=r"other\.data is not a profile"):
        read_profile(written(tmp_path, content, name="other.data"))


def test_a_damaged_header_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"header .* is damaged"):
        read_profile(written(tmp_path, b"STEELYARD-PROFILE 1\n{nonsense\n"))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_profile(str(tmp_path / "none"))
