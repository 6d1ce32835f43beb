"""Some hundred inputs of those that `make fuzz-profiles` reads by the million."""

import contextlib
import random
import subprocess

import pytest

from benchmarks.profile_fuzz.__main__ import corpus_of
from benchmarks.profile_fuzz.profile_readers import READERS
from steelyard.core.errors import DataError, SteelyardError
from steelyard.profile.file.profile_file import read_profile
from steelyard.profile.java.java_code import read_java_code
from steelyard.profile.profilers import PROFILERS, perf
from tests.unit.profile import profile_bytes as made

INPUTS = 150


@pytest.fixture(params=sorted(READERS))
def reader(request):
    return request.param


def test_every_reader_reads_its_corpus(reader, tmp_path):
    for number, data in enumerate(corpus_of(reader)):
        path = tmp_path / f"input-{number}"
        path.write_bytes(data)
        READERS[reader].read(str(path))


@pytest.mark.filterwarnings("error")
def test_a_damaged_input_ends_in_an_answer_or_in_one_error(reader, tmp_path):
    corpus, path = corpus_of(reader), tmp_path / "input"
    refused = 0
    for number in range(INPUTS):
        draws = random.Random(f"unit/{reader}/{number}")
        path.write_bytes(READERS[reader].damage(draws.choice(corpus), draws, corpus))
        with contextlib.suppress(SteelyardError):
            READERS[reader].read(str(path))
            continue
        refused += 1
    # Damage for which nothing is refused would be none; of a map of names nothing ever is.
    assert refused or reader == "perf-map"


def test_a_look_at_another_program_has_no_call_chain(tmp_path):
    path = tmp_path / "a.profile"
    chained = made.samples((4, 5, 5, 0, 0, 0x1000, ()), (5, 0, 0, 0, 0, 0, (7,)))
    path.write_bytes(made.head() + chained + made.events(made.summary()))
    assert "has a call chain" in (read_profile(str(path)).damage or "")


@pytest.mark.parametrize("word", ["-5", "1_0", "fffffffffffffffff", "ffffffffffffffff", "٣"])
def test_a_place_of_java_code_that_no_address_can_be_is_damage(tmp_path, word):
    path = tmp_path / "map"
    path.write_text(f"STEELYARD-JAVA-CODE 2\nB\t5\nD\t8\t{word}\t40\tInterpreter\n")
    with pytest.raises(DataError, match="damaged in line 3"):
        read_java_code(str(path))


def test_a_head_of_gperftools_longer_than_its_file_is_refused(tmp_path):
    path = tmp_path / "profile"
    (whole,) = corpus_of("gperftools")
    path.write_bytes(whole[:8] + (2**61).to_bytes(8, "little") + whole[16:])
    with pytest.raises(DataError, match="not a profile of gperftools"):
        PROFILERS.get("gperftools").read(str(path), ())


@pytest.mark.parametrize("count", ["²", "9" * 5000])
def test_a_line_of_perf_whose_count_is_no_number_counts_for_nothing(tmp_path, monkeypatch, count):
    path = tmp_path / "report"
    path.write_text(f"  {count}\t[.] strange\n  3\t[.] main\n")
    told = subprocess.CompletedProcess[bytes]((), 0, path.read_bytes(), b"")
    monkeypatch.setattr(perf, "tool_output", lambda *_: told)
    path.write_bytes(b"PERFILE2")
    assert PROFILERS.get("perf").read(str(path), ()).shares == {"main": 1.0}
