"""`steelyard profile paths crash` of registers that were logged: of a stripped program, without a
core file.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from steelyard.profile.paths.core_file import CoreFile
from tests.integration.conftest import User
from tests.integration.test_profile_paths import CRASHING, crashed
from tests.needs import needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("gcc"),
]


@dataclass(frozen=True)
class Logged:
    """A crash of a stripped program: its files, and what a log would have of it."""

    program: str
    path_map: str
    core: str
    pc: int
    sp: int
    base: int
    image: int
    code: int

    def asks(self, *words: str) -> tuple[str, ...]:
        return ("profile", "paths", "crash", self.path_map, *words)


@pytest.fixture
def logged(user: User, tmp_path: Path) -> Logged:
    (tmp_path / "crashing.c").write_text(CRASHING)
    subprocess.run(["gcc", "-O2", "-s", "crashing.c", "-o", "crashing"], cwd=tmp_path, check=True)
    program, path_map = str(tmp_path / "crashing"), str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    core = crashed(tmp_path, program, "1", "x")
    with closing(CoreFile(core)) as read:
        registers, base = read.threads[0].registers, read.stack_start()
        parts = [part for part in read.files if part.path == program]
    pc = registers[16]
    (code,) = (part for part in parts if part.begin <= pc < part.end)
    assert base is not None
    image = min(part.begin for part in parts)
    return Logged(program, path_map, core, pc, registers[7], base, image, code.begin)


def test_a_stripped_programs_registers_give_the_path_of_its_core_file(user: User, logged: Logged):
    wanted = user.types(*logged.asks("--core", logged.core, "--json", "-")).document()
    assert wanted["outcome"] == "resolved"
    base = ("--program", logged.program, "--base", hex(logged.base))
    line = (
        f"crashing[99]: segfault at 8 ip {logged.pc:016x} sp {logged.sp:016x} error 6 in "
        f"crashing[{logged.code:x}+1000] likely on CPU 0"
    )
    offset = f"{logged.pc - logged.image:x},{logged.code:x}+1000"
    newer = re.sub(r"\[\w+\+1000\]", f"[{offset}]", line)
    registers = ("--pc", hex(logged.pc), "--sp", hex(logged.sp), "--image", hex(logged.image))
    for words in (("--log", line), ("--log", newer), registers):
        found = user.types(*logged.asks(*words, *base, "--json", "-")).document()
        assert found["candidates"] == wanted["candidates"]
        assert found["height_bytes"] == wanted["height_bytes"]
        assert found["signal"] is None


def test_the_code_is_searched_for_registers_too_where_the_stacks_begin_is_known(
    user: User, logged: Logged
):
    words = ("--pc", hex(logged.pc), "--sp", hex(logged.sp), "--image", hex(logged.image))
    asks = ("profile", "paths", "crash", "--static", "--program", logged.program, *words)
    told = user.types(*asks, "--base", hex(logged.base))
    assert told.status == 0, told.err
    assert "1 path by the code" in told.out
    told = user.types(*asks)
    assert told.status == 2
    assert "give --base" in told.err


def test_without_the_begin_of_the_stack_every_path_of_the_function_is_shown(user, logged: Logged):
    words = ("--pc", hex(logged.pc - logged.image), "--sp", hex(logged.sp))
    found = user.types(*logged.asks(*words, "--program", logged.program, "--json", "-")).document()
    assert found["height_bytes"] is None
    assert found["outcome"] == "ambiguous"
    assert len(found["candidates"]) == 2


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--log", "nothing of the kind"), "no line of a crash"),
        (("--pc", "here", "--sp", "1"), "--pc is no address"),
        (("--pc", "0x7fffffff", "--sp", "1"), "no table covers it"),
        ((), "What is known of the crash?"),
    ],
)
def test_what_says_nothing_of_a_crash_is_refused(user: User, logged: Logged, words, refusal):
    told = user.types(*logged.asks(*words, "--program", logged.program))
    assert told.status == 2
    assert refusal in told.err


def test_a_stack_that_begins_below_the_frame_is_refused(user: User, logged: Logged):
    words = ("--pc", hex(logged.pc - logged.image), "--sp", hex(logged.sp), "--base", "0x1000")
    told = user.types(*logged.asks(*words, "--program", logged.program))
    assert told.status == 2
    assert "not of one stack" in told.err
