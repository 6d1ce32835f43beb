"""Code that is one for several functions is told: which of them ran is not known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.profile.attribution import attribute
from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.debug_files import read_build_id
from steelyard.profile.symbols.perf_map import read_perf_map
from steelyard.profile.symbols.same_code import twins
from tests.needs import need
from tests.unit.profile.symbols.test_mapped_files import place_of, recorded

ALIKE = """
__attribute__((noinline)) long parse(long n) { return n * 3 + 7; }
__attribute__((noinline)) long checksum(long n) { return n * 3 + 7; }
__attribute__((noinline)) long apart(long n) { return n * 5 + 9; }
int main(int n, char **words) { return parse(n) + checksum(n) + apart(n); }
"""


def folded(folder: Path) -> Path:
    """A program whose linker keeps one of two functions that are alike."""
    need("gcc")
    need("ld.gold")
    (folder / "a.c").write_text(ALIKE)
    flags = ("-O1", "-ffunction-sections", "-fuse-ld=gold", "-Wl,--icf=all,--build-id=sha1")
    subprocess.run(["gcc", *flags, "a.c", "-o", "program"], cwd=folder, check=True)
    return folder / "program"


def told(tmp_path: Path, path: Path, function: str) -> dict[str, str]:
    known = {"build_id": read_build_id(str(path))}
    raw = recorded(tmp_path, path, place_of(path, function), **known)
    answer = profile_answer(
        attribute(raw), Recorded("p", raw.header, {}, raw.samples["time_ns"], raw.samples["cpu"])
    )
    return {caution.code: caution.message for caution in answer.cautions}


def test_a_function_that_shares_its_code_with_another_is_not_named_firmly(tmp_path):
    path = folded(tmp_path)
    message = told(tmp_path, path, "parse")["shared-code"]
    assert "100.0 % of the samples" in message
    assert "parse is also checksum." in message
    assert "shared-code" not in told(tmp_path, path, "apart")


@pytest.mark.parametrize(
    ("symbol", "aliases", "others"),
    [
        (b"checksum", (b"checksum", b"parse"), ("parse",)),
        (b"add", (b"add", b"add_all", b"_add"), ("add_all",)),
        (b"puts@@GLIBC_2.2.5", (b"puts@@GLIBC_2.2.5", b"_IO_puts@@GLIBC_2.2.5"), ()),
        (b"__memcpy_avx", (b"__memcpy_avx", b"__memmove_avx"), ()),
        (b"step", (b"step", b"step.localalias", b"step.part.0"), ()),
        # Constructors of a whole object and of a base.
        (b"_ZN3FooC1Ev", (b"_ZN3FooC1Ev", b"_ZN3FooC2Ev"), ()),
        (b"_Z1fIiEvT_", (b"_Z1fIiEvT_", b"_Z1fIjEvT_"), ("void f<unsigned int>(unsigned int)",)),
    ],
)
def test_only_other_functions_are_told_and_not_other_names_of_one(symbol, aliases, others):
    assert twins(symbol, aliases) == others


def test_code_whose_address_was_used_again_is_told_with_all_its_names(tmp_path):
    path = tmp_path / "perf-1.map"
    path.write_text("1000 20 first\n2000 20 other\n1000 20 second\n2000 20 other\n")
    symbols = read_perf_map(str(path))
    used_again, once = code_places("", symbols, [0x1004, 0x2004], inlined=False)
    assert (used_again.names, used_again.twins) == (("second",), ("first",))
    assert (once.names, once.twins) == (("other",), ())
