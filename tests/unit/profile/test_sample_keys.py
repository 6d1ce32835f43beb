"""Where the stack of each sample's thread begins, by what a profile notes of threads."""

from __future__ import annotations

from steelyard.profile.file.profile_file import read_profile
from steelyard.profile.paths.sample_keys import stack_bases
from tests.unit.profile.profile_bytes import base, events, head, naming, samples, start, summary


def bases_of(tmp_path, looks, *records):
    """Of samples at (time_ns, process, thread)."""
    entries = samples(*((*look, 0, 0, 1, ()) for look in looks))
    path = tmp_path / "p"
    path.write_bytes(head() + events(*records) + entries + events(summary(samples=1)))
    return stack_bases(read_profile(str(path))).tolist()


def test_a_stack_is_known_from_when_it_was_noted(tmp_path):
    found = bases_of(tmp_path, [(5, 1, 1), (10, 1, 1), (15, 1, 1)], base(10, 1, 1, 900))
    assert found == [0, 900, 900]


def test_threads_have_stacks_of_their_own(tmp_path):
    looks = [(9, 1, 1), (9, 1, 2), (9, 1, 3)]
    found = bases_of(tmp_path, looks, base(0, 1, 1, 900), base(3, 1, 2, 500))
    assert found == [900, 500, 0]


def test_a_thread_with_the_number_of_one_that_ended_has_not_its_stack(tmp_path):
    records = (base(1, 1, 2, 500), start(6, 1, 2, 1, 1))
    assert bases_of(tmp_path, [(5, 1, 2), (7, 1, 2)], *records) == [500, 0]


def test_another_program_in_a_process_has_another_stack(tmp_path):
    records = (base(1, 1, 1, 500), naming(6, 1, 1, "other", after_exec=True), base(6, 1, 1, 700))
    assert bases_of(tmp_path, [(5, 1, 1), (7, 1, 1)], *records) == [500, 700]
