"""Programs that move all the time do for long what they do at once; their pages stay apart."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.integration.conftest import User
from tests.layout_programs import (
    build_endurance,
    environment_with,
    read_report,
    require_layout,
)
from tests.patience import PATIENCE_S

# `jmp *slot(%rip)`, before the slot's distance.
JUMP = b"\xff\x25"

require_layout()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that checks itself; with debugging information, as many builds have it."""
    return build_endurance(tmp_path_factory.mktemp("endurance"), "-g")


def start(program: str, *words: str, parts: str = "code,stack,heap") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [program, *words],
        env=environment_with({"": parts, "_INTERVAL": "1ms", "_REPORT": f"{program}.json"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    return out


@pytest.mark.parametrize("what", ["exceptions", "mixture"])
def test_threads_throw_through_old_and_new_copies(program: str, what: str) -> None:
    finish(start(program, what, "0.3", "20"))
    report = read_report(f"{program}.json")
    assert report["moves"] > 1
    assert report["copies_freed"] > 0


def test_threads_that_end_while_their_stacks_are_looked_at_harm_nobody(program: str) -> None:
    assert int(finish(start(program, "endings", "1", "20")).split()[0]) > 0


def test_recursion_100000_deep_fits_a_stack_with_pads(program: str) -> None:
    assert finish(start(program, "depth", "100000", parts="stack")) == "100001 deep\n"


@pytest.mark.parametrize("what", ["loop", "recursion"])
def test_a_loop_in_main_and_a_recursion_enter_new_copies(program: str, what: str) -> None:
    places = int(finish(start(program, what, "0.1", "5")).split()[0])
    assert places > 1
    assert int(finish(start(program, what, "0.1", parts="none")).split()[0]) == 1


def memory_map(process: subprocess.Popen[str]) -> list[tuple[int, int, str, str]]:
    found = []
    for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines():
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)", line)
        assert match is not None
        found.append((int(match[1], 16), int(match[2], 16), match[3], match[4]))
    return found


def wait_for_copies(process: subprocess.Popen[str]) -> list[tuple[int, int, str, str]]:
    """The map once there are pages of copies: executable, and of no file."""
    while process.poll() is None:
        found = memory_map(process)
        if any("x" in access and not path for _, _, access, path in found):
            return found
    raise AssertionError("the program ended before it had copies")


def test_no_page_is_ever_writable_and_executable(program: str) -> None:
    process = start(program, "exceptions", "0.3", "10")
    wait_for_copies(process)
    for _ in range(100):
        if process.poll() is None:
            assert not [entry for entry in memory_map(process) if "wx" in entry[2]]
    finish(process)


def wait_for_jump(memory: BinaryIO, address: int) -> None:
    """The originals are replaced at once, but only when their copies lie ready."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        memory.seek(address)
        if memory.read(2) == JUMP:
            return
    raise AssertionError("the originals were not replaced")


def test_the_originals_are_traps_beyond_the_jumps_to_their_copies(program: str, user: User) -> None:
    audit = user.types("layout", "audit", "--json", "-", program).document()
    moving = [each for each in audit["functions"] if each["moves"] and each["size_bytes"] > 12]
    assert len(moving) > 20
    process = start(program, "loop", "1000")
    try:
        wait_for_copies(process)
        base = next(low for low, _, _, path in memory_map(process) if path.endswith("/endurance"))
        with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
            wait_for_jump(memory, base + int(moving[0]["address"]))
            for function in moving:
                memory.seek(base + int(function["address"]))
                body = memory.read(function["size_bytes"])
                assert body[:2] == JUMP, function
                # A place whose address is in data has such a jump too.
                rest = re.sub(re.escape(JUMP) + b".{4}", b"", body, flags=re.DOTALL)
                assert set(rest) <= {0xCC}, function
    finally:
        process.kill()
        process.communicate()


def test_a_seed_repeats_code_stack_and_heap_and_another_changes_each(user: User) -> None:
    source = user.home / "places.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <stdint.h>\n#include <string.h>\n"
        "#define NOINLINE __attribute__((noinline))\n"
        "NOINLINE void *here(void) { return __builtin_return_address(0); }\n"
        "NOINLINE uintptr_t frame(int n) { char own[32]; memset(own, n, sizeof own);"
        ' __asm__ volatile("" : : "r"(own) : "memory");'
        " return n == 0 ? (uintptr_t)own : frame(n - 1) + 0 * own[3]; }\n"
        "NOINLINE void *other(void) { void *p = here();"
        ' __asm__ volatile("" ::: "memory"); return p; }\n'
        "int main(void) { char mine[16]; uintptr_t objects = 0;"
        ' __asm__ volatile("" : : "r"(mine) : "memory");'
        " for (int i = 0; i < 8; ++i) objects = objects * 31 + ((uintptr_t)malloc(64) & 0x3ffff);"
        ' printf("%p %lx %lx\\n", other(), (long)((uintptr_t)mine - frame(6)), (long)objects);'
        " return 0; }\n"
    )
    program = str(user.home / "places")
    assert user.types("cc", "-O1", str(source), "-o", program).status == 0

    def places(seed: str) -> list[str]:
        # The same addresses take that the kernel draws none either.
        argv = ["setarch", "-R", program]
        changes = {"STEELYARD_LAYOUT_SEED": seed, "STEELYARD_LAYOUT_INTERVAL": "off"}
        done = subprocess.run(
            argv, env={**os.environ, **changes}, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    first, again, other = places("11"), places("11"), places("12")
    assert first == again
    assert all(one != two for one, two in zip(first, other, strict=True)), (first, other)
