"""Minutes of moving: exceptions in eight threads, bounded memory, a loop and a recursion.

`STEELYARD_ENDURANCE_S` says for how long each; a minute unless it does.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.layout_programs import (
    build_endurance,
    environment_with,
    read_report,
    require_layout,
)

SECONDS = float(os.environ.get("STEELYARD_ENDURANCE_S", "60"))
# Between looks at the memory.
LOOK_S = 0.5
# Of the second half over the first, whose largest is by chance: pads and the depths of stacks.
GROWTH_RATIO, GROWTH_KIB = 1.25, 8192

require_layout()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that checks itself."""
    return build_endurance(tmp_path_factory.mktemp("endurance"))


def resident_kib(process_id: int) -> int:
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def run(program: str, what: str, interval: str) -> tuple[str, list[int]]:
    """What it printed, and its resident memory all the while."""
    layout = {"": "code,stack,heap", "_INTERVAL": interval, "_REPORT": f"{program}.json"}
    seen: list[int] = []
    with subprocess.Popen(
        [program, what, str(SECONDS)],
        env=environment_with(layout),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None:
            seen.append(resident_kib(process.pid))
            time.sleep(LOOK_S)
        out = "" if process.stdout is None else process.stdout.read()
    assert process.returncode == 0, out
    return out, seen


@pytest.mark.parametrize(
    ("what", "interval"),
    [("exceptions", "1ms"), ("mixture", "5ms"), ("mixture", "1ms"), ("turnover", "5ms")],
)
def test_it_stays_right_and_its_memory_bounded(program: str, what: str, interval: str) -> None:
    _, seen = run(program, what, interval)
    half = len(seen) // 2
    assert max(seen[half:]) <= max(seen[:half]) * GROWTH_RATIO + GROWTH_KIB
    report = read_report(f"{program}.json")
    assert report["moves"] > 0
    assert report["copies_freed"] > report["functions"]


@pytest.mark.parametrize("what", ["loop", "recursion"])
def test_what_never_ends_enters_nearly_every_layout(program: str, what: str) -> None:
    out, _ = run(program, what, "100ms")
    report = read_report(f"{program}.json")
    assert int(out.split()[0]) >= report["moves"] * 0.9
