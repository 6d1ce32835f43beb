"""What a compiler's command line asks for, and what a layout build makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.errors import UsageError
from steelyard.layout.command_line import parse_command_line
from steelyard.layout.compiler_call import compiler_arguments
from steelyard.layout.toolchain import Toolchain

TOOLS = Toolchain("clang-19", "lld", "native")


def arguments(*words: str) -> list[str]:
    return compiler_arguments(parse_command_line(words), TOOLS, "c")


@pytest.mark.parametrize(
    ("words", "links"),
    [
        (("a.c",), True),
        (("a.o", "-o", "a"), True),
        (("-o", "a", "-lm", "a.o"), True),
        (("-c", "a.c"), False),
        (("-E", "a.c"), False),
        (("-S", "a.c"), False),
        (("-M", "a.c"), False),
        (("-shared", "a.o"), False),
        (("-r", "a.o", "-o", "b.o"), False),
        (("--version",), False),
        (("-print-search-dirs",), False),
        (("-v",), False),
        (("-o", "a"), False),
        (("-I", "include"), False),
        (("-",), True),
        (("-x", "c", "-"), True),
        (("-x", "c-header", "h"), False),
        (("-xc++-header", "h"), False),
        (("a.h",), False),
        (("a.hpp", "-o", "a.hpp.pch"), False),
        (("-x", "c", "a.h"), True),
        (("a.h", "a.c"), True),
        (("--analyze", "a.c"), False),
        (("-e", "start"), False),
        (("--param", "x=1"), False),
        (("-Wl,-r", "a.o"), False),
        (("-Xlinker", "-r", "a.o"), False),
        (("-Wl,-rpath,lib", "a.o"), True),
        (("-Wl,--version", "a.o"), False),
        (("-dumpdir", "x-", "a.c"), True),
        (("-dumpversion",), False),
        (("-O2", "--", "a.c"), True),
        (("-Wl,-shared", "a.o"), False),
    ],
)
def test_a_link_is_known_from_what_is_none(words: tuple[str, ...], links: bool) -> None:
    assert parse_command_line(words).links_program is links


def test_a_library_gets_a_table_too_and_finds_the_runtime_in_its_program() -> None:
    assert parse_command_line(["-shared", "a.o"]).links_library
    assert not parse_command_line(["-shared", "-c", "a.c"]).links_library
    words = arguments("-shared", "-nostdlib", "a.o", "-lc")
    assert "-Wl,--emit-relocs" in words
    assert TOOLS.module in words
    assert TOOLS.runtime not in words


def test_a_program_without_the_c_library_is_refused_unless_it_names_it() -> None:
    with pytest.raises(UsageError, match="-nodefaultlibs"):
        parse_command_line(["-nodefaultlibs", "a.o"])
    assert parse_command_line(["-nodefaultlibs", "a.o", "-lc"]).links_program
    assert not parse_command_line(["-nodefaultlibs", "-c", "a.c"]).links_program


def test_the_output_is_found_however_it_is_written() -> None:
    assert parse_command_line(["a.c"]).output == "a.out"
    assert parse_command_line(["a.c", "-o", "x"]).output == "x"
    assert parse_command_line(["-ox", "a.c"]).output == "x"


def test_response_files_are_read_for_what_they_say_and_passed_on(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("-c 'a b.c' -o x")
    line = parse_command_line([f"@{words}"])
    assert not line.links_program
    assert line.output == "x"
    assert f"@{words}" in compiler_arguments(line, TOOLS, "c")


def test_the_options_of_steelyard_are_taken_out() -> None:
    line = parse_command_line(
        ["--layout=heap,code", "--layout-interval=5ms", "--layout-seed=9", "a.c"]
    )
    assert line.arguments == ("a.c",)
    assert line.wishes.parts == ("code", "heap")
    assert line.wishes.interval_ns == 5_000_000
    assert line.wishes.seed == 9
    assert parse_command_line(["--layout=none", "--layout-interval=off"]).wishes.mask == 0


@pytest.mark.parametrize(
    "word",
    [
        *("--layout=cod", "--layout-interval=5", "--layout-interval=0ms", "--layout-seed=0"),
        *("-static", "--static", "-static-pie", "-m32"),
        *("--target=aarch64-linux-gnu", "--target=x86_64-linux-musl", "--target=x86_64-windows"),
    ],
)
def test_wrong_words_are_refused(word: str) -> None:
    with pytest.raises(UsageError):
        parse_command_line([word, "a.c"])


def test_position_independence_is_the_users_kind_or_that_of_programs() -> None:
    assert "-fPIE" in arguments("-c", "a.c")
    assert "-fPIE" not in arguments("-c", "-fPIC", "a.c")
    assert "-fno-pie" not in arguments("-c", "-fno-pie", "a.c")
    assert "-static-libgcc" not in arguments("-static-libgcc", "a.c")


def test_frames_are_padded_only_where_the_stack_is_asked_for() -> None:
    assert "-fno-integrated-as" in arguments("-c", "a.c")
    assert "-fno-integrated-as" not in arguments("--layout=code,heap", "-c", "a.c")
    with pytest.raises(UsageError, match="-flto"):
        arguments("-flto", "-c", "a.c")


@pytest.mark.parametrize(
    "word", ["-s", "-gz", "-gz=zlib", "-no-pie", "-Wl,-s", "-Wl,-x", "-Wl,--strip-all"]
)
def test_what_the_program_does_not_get_is_told_once_where_it_is_linked(word: str) -> None:
    line = parse_command_line(["-O2", word, word, "a.c"])
    assert [sentence.split()[0] for sentence in line.left_out] == [word]
    assert word not in compiler_arguments(line, TOOLS, "c")
    assert parse_command_line([word, "-c", "a.c"]).left_out == ()
    assert parse_command_line(["-x", "c", "a.c"]).left_out == ()
    assert parse_command_line(["a.c"]).left_out == ()


def test_sanitizers_that_replace_malloc_or_threads_are_refused_and_others_are_not() -> None:
    for names in ("address", "undefined,thread", "leak", "safe-stack"):
        with pytest.raises(UsageError, match="is refused"):
            parse_command_line([f"-fsanitize={names}", "-c", "a.c"])
    assert "-fsanitize=undefined" in arguments("-fsanitize=undefined", "-c", "a.c")


def test_questions_go_to_clang_as_they_are() -> None:
    assert arguments("--version") == ["clang-19", "--version"]


def test_fortran_is_compiled_by_gfortran_and_linked_by_lld() -> None:
    line = parse_command_line(["a.f90"], ("code", "heap"))
    words = compiler_arguments(line, TOOLS, "fortran")
    assert "-Blld" in words
    assert "-fPIE" in words
    assert "-fno-integrated-as" not in words
    with pytest.raises(UsageError, match="Fortran"):
        compiler_arguments(parse_command_line(["--layout=stack", "a.f90"]), TOOLS, "fortran")


def test_what_goes_to_the_linker_in_one_word_is_left_out_alone() -> None:
    words = arguments("a.c", "-Wl,-O1,-s,--as-needed", "-Xlinker", "-S", "-Wl,-s")
    assert "-Wl,-O1,--as-needed" in words
    assert "-Wl,-s" not in words
    assert "-S" not in words


def test_what_a_response_file_says_is_left_out_too(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text("-fuse-ld=gold --layout=heap 'a \\' b.c' -DX=\"1 2\" never\\ closed '")
    line = parse_command_line([f"@{file}"])
    assert line.wishes.parts == ("heap",)
    words = compiler_arguments(line, TOOLS, "c")
    assert words[1:5] == ["a ' b.c", "-DX=1 2", "never closed", ""]


def test_a_response_file_that_names_itself_has_an_end(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text(f"-c @{file}")
    assert not parse_command_line([f"@{file}"]).links_program


def test_the_archives_are_of_no_language_and_stand_before_the_end_of_options() -> None:
    words = arguments("-x", "c", "-o", "a", "--", "-")
    assert words[-2:] == ["--", "-"]
    assert words[words.index(TOOLS.runtime) - 1] == "-Xlinker"
    assert words[words.index(TOOLS.allocator) - 1] == "-Xlinker"


def test_the_compiler_keeps_its_own_frames_where_none_are_padded() -> None:
    words = ("-fomit-frame-pointer", "-c", "a.c")
    assert "-fomit-frame-pointer" in arguments("--layout=code,heap", *words)
    assert "-fomit-frame-pointer" not in arguments(*words)


def test_links_are_by_one_thread_whatever_the_user_says() -> None:
    for words in (("a.o",), ("-Wl,--threads=8", "a.o"), ("-shared", "-Wl,--threads=8", "a.o")):
        assert [word for word in arguments(*words) if "threads" in word][-1] == "-Wl,--threads=1"
