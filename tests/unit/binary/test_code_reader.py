"""Reading the functions of programs, and keeping what was read."""

import pytest

from steelyard.binary import code_reader
from steelyard.binary.code_reader import read_code, read_steps
from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.core.native_program import native_program
from steelyard.predict.commits.code_change import compare_programs


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A copy of a program that is at hand: the reader itself."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    copy = tmp_path / "program"
    with open(native_program("steelyard-bodies", "the reader of bodies"), "rb") as file:
        copy.write_bytes(file.read())
    return copy


def test_a_stripped_program_has_the_functions_of_its_unwinding_tables(program):
    found = read_code(str(program))
    assert found.stripped
    assert len(found) > 100
    assert sum(found.instructions) > 10_000
    assert not compare_programs(found, found).changed


def test_what_was_read_is_kept_and_read_anew_where_it_was_cut_off(program, tmp_path):
    first = read_code(str(program))
    (kept,) = (tmp_path / "cache" / "steelyard" / "code").iterdir()
    kept.write_bytes(kept.read_bytes()[:500])
    assert read_code(str(program)) == first
    assert read_code(str(program)) == first


def test_a_folder_of_kept_readings_that_cannot_be_made_hinders_nothing(program, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert len(read_code(str(program))) > 100


@pytest.mark.parametrize(
    ("begin", "end", "words"),
    [(0, 0, "it is empty"), (1, 4000, "no ELF file"), (0, 60, "damaged"), (0, 4000, "damaged")],
)
def test_a_file_that_is_no_whole_program_is_refused_in_one_sentence(program, begin, end, words):
    program.write_bytes(program.read_bytes()[begin:end])
    with pytest.raises(DataError, match=words):
        read_code(str(program))


def test_a_program_for_another_machine_is_named(program):
    content = bytearray(program.read_bytes())
    content[18:20] = (40).to_bytes(2, "little")  # EM_ARM
    program.write_bytes(content)
    with pytest.raises(DataError, match="number 40"):
        read_code(str(program))


def test_the_steps_of_functions_are_as_many_as_their_instructions(program):
    found = read_code(str(program))
    places = [0, 5, len(found) - 1]
    steps = read_steps(str(program), places)
    assert [len(one.tokens) for one in steps] == [found.instructions[place] for place in places]
    ends = [len(found.references[place]) // 3 for place in places]
    assert [one.references[-1] for one in steps] == ends
    for one in steps:
        assert len(one.addresses) == len(one.operations) == len(one.tokens) == len(one.targets)
        assert list(one.addresses) == sorted(set(one.addresses))
    assert read_steps(str(program), []) == []


def test_steps_of_a_function_that_is_not_there_are_refused(program):
    with pytest.raises(DataError, match="no function of that number"):
        read_steps(str(program), [10**6])


def test_a_reader_of_another_version_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(code_reader, "_ask_reader", lambda *_given: b"[[[1],[2],[3]]]")
    with pytest.raises(MissingCapabilityError, match="of another version of Steelyard"):
        code_reader.read_steps("program", [0])
