import numpy as np
import pytest

from steelyard.core.errors import DataError
from steelyard.profile.java.java_code import java_code_paths, read_java_code, read_java_codes

HEAD = "STEELYARD-JAVA-CODE 2"


def written(tmp_path, *lines, name="a.profile.java-7"):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in (HEAD, *lines)))
    return str(path)


def stack(code, address, time_ns, word=0):
    arrays = (np.array([value], np.uint64) for value in (address, time_ns, word))
    return code.stacks_at(*arrays)[0]


def mended(code, address):
    return code.mended_count(np.array([address], np.uint64), np.array([5], np.uint64))


def method(number, name, word=0, time_ns=0):
    return f"M\t{time_ns:x}\t{number:x}\t{word:x}\t{name}"


def load(time_ns, start, size, number, *places):
    return "\t".join((f"L\t{time_ns:x}\t{start:x}\t{size:x}\t{number:x}", *places))


def test_code_that_was_compiled_anew_at_the_same_address_is_known_by_its_time(tmp_path):
    code = read_java_code(
        written(
            tmp_path,
            method(0, "A.old"),
            method(1, "A.new"),
            load(100, 0x1000, 0x40, 0),
            "U\t" + f"{200:x}\t1000",
            load(300, 0x1000, 0x80, 1),
        )
    )
    assert stack(code, 0x1010, 150) == ("A.old",)
    assert stack(code, 0x1010, 350) == ("A.new",)
    # Between the two no code is known: it is told of late, so it was the one that comes next.
    assert stack(code, 0x1010, 250) == ("A.new",)
    assert stack(code, 0x1050, 150) == ("A.new",)
    assert stack(code, 0x2000, 150) == ()
    assert stack(code, 0x10, 150) == ()


def test_code_that_is_gone_is_not_taken_for_something_else(tmp_path):
    lines = (method(0, "A.a"), load(100, 0x1000, 0x40, 0), "U\t" + f"{200:x}\t1000")
    code = read_java_code(written(tmp_path, *lines))
    assert stack(code, 0x1000, 50) == ("A.a",)
    assert stack(code, 0x1000, 200) == ()


def test_an_instruction_belongs_to_the_next_place_with_all_that_it_was_inlined_into(tmp_path):
    lines = (method(0, "A.outer"), method(1, "A.inner"))
    places = ("8:1@0,0@5", "10:0@9")
    code = read_java_code(written(tmp_path, *lines, load(1, 0x1000, 0x20, 0, *places)))
    assert stack(code, 0x1000, 5) == ("A.inner", "A.outer")
    assert stack(code, 0x1007, 5) == ("A.inner", "A.outer")
    assert stack(code, 0x1008, 5) == ("A.outer",)
    assert stack(code, 0x101F, 5) == ("A.outer",)


def test_places_that_are_told_wrongly_belong_to_the_next_place(tmp_path):
    lines = (method(0, "A.outer"), method(1, "A.inner"), method(2, "A.boxed"))
    boxed = [f"{offset:x}:0@30" for offset in range(8, 48, 4)]
    places = ("4:1@0,0@5", *boxed, "40:1@8,0@5", "44:0@20", "48:2@1,0@30")
    code = read_java_code(written(tmp_path, *lines, load(1, 0x1000, 0x60, 0, *places)))
    assert {stack(code, 0x1000 + offset, 5) for offset in range(0x40)} == {("A.inner", "A.outer")}
    assert stack(code, 0x1042, 5) == ("A.outer",)
    assert stack(code, 0x1046, 5) == ("A.boxed", "A.outer")
    # Up to the fourth byte and from the last wrong place on the machine is right.
    assert [mended(code, 0x1000 + offset) for offset in (3, 4, 43, 44, 0x46, 0x80)] == [
        0, 1, 1, 0, 0, 0,
    ]  # fmt: skip


def test_an_interpreted_method_is_known_by_the_word_of_its_frame(tmp_path):
    lines = (
        "D\t1\t5000\t100\tInterpreter",
        "D\t1\t6000\t100\tcall_stub",
        method(0, "A.first", word=0xABC0, time_ns=10),
        method(1, "B.later", word=0xABC0, time_ns=100),
    )
    code = read_java_code(written(tmp_path, *lines))
    assert stack(code, 0x5000, 50, 0xABC0) == ("A.first",)
    assert stack(code, 0x5000, 100, 0xABC0) == ("B.later",)
    assert stack(code, 0x5000, 5, 0xABC0) == ("A.first",)
    assert stack(code, 0x5000, 50, 0xDEF0) == ("[interpreted]",)
    assert stack(code, 0x5000, 50, 0) == ("[interpreted]",)
    assert stack(code, 0x6010, 50, 0xABC0) == ("[call_stub]",)


def test_a_map_that_was_cut_off_is_read_up_to_its_last_whole_line(tmp_path):
    path = written(tmp_path, method(0, "A.a"), load(1, 0x1000, 0x40, 0))
    with open(path, "a", encoding="utf-8") as file:
        file.write("L\t5\t10")
    assert stack(read_java_code(path), 0x1000, 5) == ("A.a",)


@pytest.mark.parametrize("line", ["X\t1", "L\t1\t2", "M\tz\t0\t0\tA.a", ""])
def test_a_damaged_map_is_one_clear_error(tmp_path, line):
    with pytest.raises(DataError, match="damaged in line 2"):
        read_java_code(written(tmp_path, line))


def test_what_is_no_map_is_refused(tmp_path):
    path = tmp_path / "other"
    path.write_text("hello\n")
    with pytest.raises(DataError, match="is not a code map"):
        read_java_code(str(path))
    with pytest.raises(DataError, match="cannot be read"):
        read_java_code(str(tmp_path / "none"))


def test_the_maps_beside_a_profile_are_found_by_their_processes(tmp_path):
    written(tmp_path, method(0, "A.a"))
    written(tmp_path, name="a.profile.java-12")
    written(tmp_path, name="b.profile.java-13")
    written(tmp_path, name="a.profile.java-old")
    profile = str(tmp_path / "a.profile")
    assert sorted(java_code_paths(profile)) == [7, 12]
    assert sorted(read_java_codes(profile)) == [7, 12]
