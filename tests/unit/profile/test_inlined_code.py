"""What the compiler inlined, as addr2line tells it."""

from __future__ import annotations

import subprocess

import pytest

from steelyard.profile import inlined_code
from steelyard.profile.inlined_code import inlined_at
from steelyard.profile.symbols import read_symbols
from tests.needs import need

SOURCE = """
volatile unsigned long sink;
static inline void inner(int n) { for (int i = 0; i < n; ++i) sink += i; }
static inline void middle(int n) { inner(n); }
__attribute__((noinline)) void outer(int n) { middle(n); }
int main(void) { outer(1000); }
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    need("gcc")
    folder = tmp_path_factory.mktemp("inlined")
    (folder / "a.c").write_text(SOURCE)
    for name, debugging in (("with", "-g"), ("without", "-g0")):
        command = ["gcc", "-O2", debugging, "a.c", "-o", name]
        subprocess.run(command, cwd=folder, check=True)
    return folder


def addresses_of_outer(path):
    symbols = read_symbols(str(path))
    at = list(symbols.names).index(b"outer")
    return list(range(int(symbols.addresses[at]), int(symbols.ends[at])))


def test_functions_inlined_in_each_other_come_the_inmost_first(compiled):
    need("addr2line")
    path = compiled / "with"
    addresses = addresses_of_outer(path)
    found = inlined_at(str(path), addresses)
    assert len(found) == len(addresses)
    assert ("inner", "middle") in found
    assert all("outer" not in names for names in found)


def test_a_clone_that_is_told_of_as_inlined_into_its_function_is_that_function(
    compiled, monkeypatch, tmp_path
):
    teller = tmp_path / "addr2line"
    told = r"step(int)\na.cpp:2\nrun(int) [clone .isra.0]\na.cpp:4\nrun(int)\na.cpp:5"
    teller.write_text(f"#!/bin/sh\nsed 's/$/\\n{told}/'\n")
    teller.chmod(0o755)
    monkeypatch.setattr(inlined_code.shutil, "which", lambda _: str(teller))
    assert inlined_at(str(compiled / "with"), [1, 2]) == [("step(int)",)] * 2


def test_a_file_without_debugging_information_has_none(compiled):
    path = compiled / "without"
    assert set(inlined_at(str(path), addresses_of_outer(path))) == {()}


def test_a_file_that_is_gone_or_no_program_has_none(tmp_path):
    (tmp_path / "text").write_text("no program")
    assert inlined_at(str(tmp_path / "gone"), [1]) == [()]
    assert inlined_at(str(tmp_path / "text"), [1]) == [()]


@pytest.mark.parametrize(
    "program", [None, "/bin/false", "/bin/true"], ids=["missing", "failing", "silent"]
)
def test_a_machine_whose_addr2line_does_not_help_has_none(compiled, monkeypatch, program):
    monkeypatch.setattr(inlined_code.shutil, "which", lambda _: program)
    assert inlined_at(str(compiled / "with"), [1, 2]) == [(), ()]
