"""Chunks whose check holds and whose content does not: damage is told of, and never a traceback."""

import struct

import pytest

from steelyard.app.profile.record_profile import read_answer
from steelyard.core.errors import DataError
from steelyard.profile.file.profile_file import read_profile
from tests.unit.profile import profile_bytes as made

GOOD = made.samples((4, 5, 5, 0, 0, 0x1000, ()))
MAPPING = made.mapping(1, 5, 0x1000, 0x2000, 0, "/bin/program")
SAMPLE = made.samples((4, 5, 5, 0, 0, 0x1000, (7, 8)))[12:]
CRAFTED = {
    "no count of samples": (b"SMPL", b"\1"),
    "more samples than there are": (b"SMPL", struct.pack("<I", 9) + SAMPLE[4:]),
    "chains cut off": (b"SMPL", SAMPLE[:-8]),
    "chains inside a word": (b"SMPL", SAMPLE[:-3]),
    "a chain too many": (b"SMPL", SAMPLE + bytes(8)),
    "a sample of a process and no thread": (b"SMPL", made.samples((4, 5, 0, 0, 0, 1, ()))[12:]),
    "words of other samples": (b"WORD", bytes(16)),
    "a mapping cut off": (b"EVNT", MAPPING[:20]),
    "a path cut off": (b"EVNT", MAPPING[:-4]),
    "a path with NUL": (b"EVNT", made.mapping(1, 5, 0x1000, 8, 0, "/bin/pro\0gram")),
    "a mapping behind the last address": (
        *(b"EVNT", made.mapping(1, 5, 2**64 - 4096, 2**64 - 4096, 0, "/bin/program")),
    ),
    "a name cut off": (b"EVNT", made.naming(1, 5, 5, "program")[:9]),
    "a start cut off": (b"EVNT", made.start(3, 5, 6, 5, 5)[:-1]),
    "an end cut off": (b"EVNT", made.end(3, 5, 6)[:-1]),
    "a loss cut off": (b"EVNT", made.lost(4)[:-1]),
    "an unknown kind": (b"EVNT", b"?" + bytes(40)),
    "a summary that is no JSON": (b"EVNT", b"E" + made.text("{nonsense")),
    "a summary that is no object": (b"EVNT", b"E" + made.text("[1]")),
    "a summary that is nested deeply": (
        b"EVNT",
        b"E" + made.text('{"a":' * 9999 + "1" + "}" * 9999),
    ),
    "a time that is no number": (b"EVNT", made.summary(elapsed_ns="long")),
    "a time that is infinite": (b"EVNT", b"E" + made.text('{"idle_ns": 1e999}')),
    "counts below 0": (b"EVNT", made.summary(unseen=-1)),
    "a scope that is no text": (b"EVNT", made.summary(scope=[])),
}


@pytest.fixture(params=CRAFTED.values(), ids=CRAFTED.keys())
def crafted(request):
    return made.chunk(*request.param)


def written(tmp_path, *parts):
    path = tmp_path / "a.profile"
    path.write_bytes(b"".join(parts))
    return str(path)


def test_content_that_does_not_hold_is_damage_and_what_stands_before_is_kept(tmp_path, crafted):
    path = written(tmp_path, made.head(), GOOD, crafted, made.events(made.summary()))
    raw = read_profile(path)
    place = len(made.head() + GOOD)
    assert f"damaged at byte {place}: " in (raw.damage or "")
    assert raw.samples["time_ns"].tolist() == [4]
    answer = read_answer(path)
    assert "cut-off" in {caution.code for caution in answer.cautions}


def test_damage_before_the_first_sample_is_told_as_damage_and_not_as_a_short_program(
    tmp_path, crafted
):
    with pytest.raises(DataError, match=r"no sample that can be read.* damaged at byte"):
        read_answer(written(tmp_path, made.head(), crafted, GOOD))


@pytest.mark.parametrize(
    "changed",
    [
        {"period": True},
        {"period": 5e-324},
        {"period": 1e300},
        {"argv": "program"},
        {"argv": [1]},
        {"process": "one"},
        {"started_unix_s": "then"},
        {"started_unix_s": 10**400},
        {"unit": None},
    ],
)
def test_a_header_that_readers_cannot_rely_on_is_refused(tmp_path, changed):
    path = written(tmp_path, made.head(**changed), GOOD, made.events(made.summary()))
    with pytest.raises(DataError, match=r"header of the profile .* is damaged: its"):
        read_answer(path)
