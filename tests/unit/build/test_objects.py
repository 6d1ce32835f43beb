"""Reading objects and archives, against what binutils says of them."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.build.elf_functions import read_elf_functions
from steelyard.build.link_line import Input, parse_link_line
from steelyard.build.modules import (
    kind_of,
    loaded_objects,
    own_inputs,
    read_module,
    read_modules,
)
from steelyard.build.static_library import NotArchiveError, read_archive
from steelyard.core.elf_file import NotElfError
from tests.needs import needs

pytestmark = needs("cc", "ar", "nm")
SOURCE = """
static __attribute__((noinline)) int inner(int x) { return x * 3; }
__attribute__((weak)) int weak(int x) { return inner(x); }
int outer(int x) { return inner(x) + 1; }
int data = 3;
"""


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., Path]:
    """Compiles the source with some options."""

    def compile_(*options: str, name: str = "unit", folder: str = ".") -> Path:
        source = tmp_path / f"{name}.c"
        source.write_text(SOURCE)
        (tmp_path / folder).mkdir(exist_ok=True)
        output = tmp_path / folder / f"{name}.o"
        command = ["cc", "-O1", "-c", *options, str(source), "-o", str(output)]
        subprocess.run(command, check=True)
        return output

    return compile_


def nm(path: Path) -> set[str]:
    listing = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    return {name for *_, kind, name in rows if kind in "tTwW"}


def test_functions_and_their_bindings_are_those_of_nm(compiled: Callable[..., Path]) -> None:
    path = compiled()
    found = read_elf_functions(io.BytesIO(path.read_bytes()))
    assert {each.name for each in found.functions} == nm(path) == {"inner", "weak", "outer"}
    assert {each.name: (each.local, each.strong) for each in found.functions} == {
        "inner": (True, True),
        "weak": (False, False),
        "outer": (False, True),
    }
    assert found.source == "unit.c"
    assert [each.file for each in found.functions if each.local] == ["unit.c"]
    assert not found.stripped


def test_sections_of_code_are_told_from_data(compiled: Callable[..., Path]) -> None:
    found = read_module(str(compiled("-ffunction-sections")), "unit.o")
    sections = {section.name: section.functions for section in found.module.sections}
    assert sections == {
        ".text.inner": ("inner",),
        ".text.weak": ("weak",),
        ".text.outer": ("outer",),
    }
    assert not found.compiled_whole


def test_several_functions_in_one_section_are_told(compiled: Callable[..., Path]) -> None:
    assert read_module(str(compiled("-fno-function-sections")), "unit.o").compiled_whole


def test_code_for_link_time_optimisation_is_told(compiled: Callable[..., Path]) -> None:
    assert read_module(str(compiled("-flto", "-fno-fat-lto-objects")), "unit.o").lto
    assert not read_module(str(compiled()), "unit.o").lto


def test_objects_for_small_words_are_read(compiled: Callable[..., Path]) -> None:
    try:
        path = compiled("-m32")
    except subprocess.CalledProcessError:
        pytest.skip("this compiler makes no 32-bit objects")
    assert {each.name for each in read_elf_functions(io.BytesIO(path.read_bytes())).functions} >= {
        "inner",
        "outer",
    }


@pytest.mark.parametrize("kept_bytes", [0, 3, 40, 63, 100])
def test_a_file_that_is_cut_short_is_refused(
    compiled: Callable[..., Path], kept_bytes: int
) -> None:
    with pytest.raises(NotElfError):
        read_elf_functions(io.BytesIO(compiled().read_bytes()[:kept_bytes]))


@pytest.mark.parametrize("manner", ["rcs", "rcsT"])
def test_members_of_an_archive_are_those_of_ar(
    compiled: Callable[..., Path], tmp_path: Path, manner: str
) -> None:
    long_name = "a_name_that_is_too_long_for_the_header"
    objects = [compiled(name="one"), compiled(name=long_name, folder="sub")]
    archive = tmp_path / "lib.a"
    names = [str(path.relative_to(tmp_path)) for path in objects]
    subprocess.run(["ar", manner, "lib.a", *names], cwd=tmp_path, check=True)
    said = subprocess.run(["ar", "t", str(archive)], capture_output=True, text=True, check=True)
    members = read_archive(str(archive))
    assert [Path(member.name).name for member in members] == [
        Path(line).name for line in said.stdout.splitlines()
    ]
    assert [member.data for member in members] == [path.read_bytes() for path in objects]
    assert kind_of(str(archive)) == "archive"


@pytest.mark.parametrize("line", ["({archive})unit.o", "{archive}(unit.o)"])
@pytest.mark.parametrize("folder", ["plain", "with (brackets)"])
def test_members_are_found_by_what_either_linker_says_of_them(
    compiled: Callable[..., Path], tmp_path: Path, line: str, folder: str
) -> None:
    (tmp_path / folder).mkdir()
    archive = tmp_path / folder / "lib.a"
    subprocess.run(["ar", "rc", str(archive), str(compiled())], check=True)
    inputs = [Input(0, str(archive), "archive")]
    trace = [line.format(archive=archive)]
    found = loaded_objects(trace, inputs, str(tmp_path), str(tmp_path / "work"))
    assert [name for _, name in found] == [f"{folder}/lib.a(unit.o)"]


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lib.a").write_bytes(b"!<arch>\n" + b"x" * 60)
    with pytest.raises(NotArchiveError):
        read_archive(str(tmp_path / "lib.a"))
    (tmp_path / "lib.a").write_bytes(b"text")
    with pytest.raises(NotArchiveError):
        read_archive(str(tmp_path / "lib.a"))


def test_what_the_compiler_brings_is_not_the_projects(compiled: Callable[..., Path]) -> None:
    own = str(compiled())
    start = subprocess.run(
        ["cc", "-print-file-name=crt1.o"], capture_output=True, text=True, check=True
    ).stdout.strip()
    line = parse_link_line([start, own, "script.ld"], kind_of)
    assert [each.path for each in own_inputs(line, str(Path(own).parent))] == [own]


def test_labels_tell_objects_of_one_name_apart(compiled: Callable[..., Path]) -> None:
    path = str(compiled())
    labels = [each.module.label for each in read_modules([(path, "x.o"), (path, "x.o")])]
    assert labels == ["x.o", "x.o#2"]
