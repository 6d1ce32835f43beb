"""Does a program that moves all the time stay correct, and its memory bounded? For as long as told.

Runs `tests/integration/data/layout/endurance.cpp` (exceptions and thread-local variables in
threads, coroutines, setjmp, signals, deep recursion, forks; or objects that come and go in threads
that do) under all three parts, and looks at its resident memory all the while.

    .venv/bin/python -m benchmarks.layout_endurance --seconds 3600 --interval 5ms
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STEELYARD = Path(sys.executable).with_name("steelyard")
SOURCE = Path(__file__).parents[1] / "tests/integration/data/layout/endurance.cpp"
LOOKS = 120
# The first tenth fills caches and sets of free objects.
SETTLED = 0.1


def build(folder: str, *options: str) -> str:
    """The program, built by this checkout's driver."""
    program = os.path.join(folder, "endurance")
    words = ["-std=c++20", "-O2", "-pthread", *options, str(SOURCE), "-o", program]
    subprocess.run([str(STEELYARD), "c++", *words], check=True)
    return program


def resident_kib(process_id: int) -> int:
    """The resident memory of a process; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


@dataclass(frozen=True)
class Run:
    """How a run ended, what it printed, its report, and its resident memory (seconds, KiB)."""

    status: int
    said: str
    report: dict[str, Any]
    memory: list[tuple[float, int]]


def watch(program: str, what: str, seconds: float, settings: dict[str, str]) -> Run:
    """Run to the end, and look at the memory all the while."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        environment = {**os.environ, **settings, "STEELYARD_LAYOUT_REPORT": report}
        began_s = time.monotonic()
        seen: list[tuple[float, int]] = []
        with subprocess.Popen(
            [program, what, str(seconds)], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            while process.poll() is None:
                seen.append((time.monotonic() - began_s, resident_kib(process.pid)))
                time.sleep(max(seconds / LOOKS, 0.05))
            said = "" if process.stdout is None else process.stdout.read().strip()
        told = json.loads(Path(report).read_text()) if os.path.exists(report) else {}
    return Run(process.returncode, said, told, seen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--interval", default="5ms")
    parser.add_argument("--what", default="mixture", choices=("mixture", "exceptions", "turnover"))
    options = parser.parse_args(arguments)
    settings = {
        "STEELYARD_LAYOUT": "code,stack,heap",
        "STEELYARD_LAYOUT_INTERVAL": options.interval,
    }
    with tempfile.TemporaryDirectory() as folder:
        found = watch(build(folder), options.what, options.seconds, settings)
    memory = [(at_s, kib) for at_s, kib in found.memory if kib]
    settled = [kib for at_s, kib in memory if at_s >= options.seconds * SETTLED]
    half = len(settled) // 2
    print(f"ended with status {found.status}: {found.said}")
    for name in ("moves", "postponed", "copies_freed", "most_copies_bytes", "interruptions"):
        print(f"  {name}: {found.report.get(name)}")
    if half:
        print(
            f"  resident memory, largest: {max(settled[:half])} KiB in the first half, "
            f"{max(settled[half:])} KiB in the second"
        )
    return 0 if found.status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
