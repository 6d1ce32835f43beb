"""The words of a linker's call, understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.build.link_line import (
    InputKind,
    LinkLine,
    expand_response_files,
    parse_link_line,
    quote_response,
    split_response,
)


def kind_of(path: str) -> InputKind:
    return {".o": "object", ".a": "archive"}.get(Path(path).suffix, "other")  # pyright: ignore


def parsed(text: str) -> LinkLine:
    return parse_link_line(text.split(), kind_of)


def paths(line: LinkLine) -> list[str]:
    return [each.path for each in line.inputs if each.kind != "other"]


@pytest.mark.parametrize("output", ["-o prog", "--output prog", "--output=prog"])
def test_the_output_is_found(output: str) -> None:
    assert parsed(f"a.o {output} b.o").output == "prog"
    assert parsed("a.o").output == "a.out"


def test_values_of_options_are_no_inputs() -> None:
    line = parsed("-m elf_x86_64 -z now -Map x.o -e y.o --wrap z.o a.o -L l.o -u u.o b.o")
    assert paths(line) == ["a.o", "b.o"]


@pytest.mark.parametrize(
    ("words", "partial", "stripping", "script", "order", "hides"),
    [
        ("a.o", False, False, None, None, False),
        ("-r a.o", True, False, None, None, False),
        ("a.o -s", False, True, None, None, False),
        ("a.o -T own.ld", False, False, "-T", None, False),
        ("a.o -Town.ld", False, False, "-Town.ld", None, False),
        ("a.o --script=own.ld", False, False, "--script=own.ld", None, False),
        ("a.o -Ttext=0x1000", False, False, "-Ttext=0x1000", None, False),
        ("a.o --symbol-ordering-file=x", False, False, None, "--symbol-ordering-file=x", False),
        (
            "a.o --shuffle-sections=.text*=3",
            False,
            False,
            None,
            "--shuffle-sections=.text*=3",
            False,
        ),
        ("a.o --exclude-libs ALL", False, False, None, None, True),
    ],
)
def test_the_manner_of_the_link_is_told(
    words: str, partial: bool, stripping: bool, script: str | None, order: str | None, hides: bool
) -> None:
    line = parsed(words)
    assert (line.partial, line.stripping, line.script) == (partial, stripping, script)
    assert (line.order_option, line.hides_archives) == (order, hides)


def test_libraries_are_looked_for_as_the_linker_does(tmp_path: Path) -> None:
    for name in ("libone.a", "libtwo.a", "libtwo.so"):
        (tmp_path / name).touch()
    line = parsed(f"-lone -ltwo --push-state -Bstatic -ltwo --pop-state -ltwo -lm -L {tmp_path}")
    assert [Path(each.path).name for each in line.inputs] == [
        "libone.a",
        "libtwo.so",
        "libtwo.a",
        "libtwo.so",
    ]
    assert paths(parsed(f"-L{tmp_path} -l :libone.a")) == [f"{tmp_path}/libone.a"]


def test_objects_take_the_place_of_the_first_input(tmp_path: Path) -> None:
    (tmp_path / "libx.a").touch()
    line = parsed(f"-pie crt1.o a.o -L{tmp_path} -l x --start-group b.o --end-group -lc")
    own = [each for each in line.inputs if each.path != "crt1.o"]
    words = line.with_objects(["2.o", "1.o"], own)
    assert " ".join(words) == (f"-pie crt1.o 2.o 1.o -L{tmp_path} --start-group --end-group -lc")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\n c", ["a", "b", "c"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        (r"a\ b c\\d", ["a b", "c\\d"]),
        ("x'y z'", ["xy z"]),
        ("''", [""]),
        ("", []),
    ],
)
def test_response_files_are_read_as_compilers_write_them(text: str, words: list[str]) -> None:
    assert split_response(text) == words


def test_a_response_file_of_ours_is_read_back(tmp_path: Path) -> None:
    words = ["plain", "with space", "it's", 'a"b', "back\\slash", "", "tab\there"]
    file = tmp_path / "words"
    file.write_text(quote_response(words))
    inner = tmp_path / "outer"
    inner.write_text(f"first @{file}")
    assert expand_response_files([f"@{inner}", "@nowhere"]) == ["first", *words, "@nowhere"]
