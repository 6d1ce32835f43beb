"""End Steelyard and its parts in every way, at random instants, and count what is lost by it.

    .venv/bin/python -m benchmarks.kills --kills 1000 --seed 1

It runs every scenario under every fault in turn, each at an instant drawn from the seed, in a file
system of its own. Instants are spread over phases: the start, each trial, and what follows the last
one. A session that ended before its instant is no kill, and another instant is drawn. Knobs of the
host that are quiet already are made loud for as long as it runs. It prints a
table: a row a scenario with the kills of each fault, and what was lost, doubled, left running and
left changed. It ends with 1 if anything was; interrupted, it tells what it has found. As root it
makes all faults; the clock is that of libfaketime, so that the machine's own stays right.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import fcntl
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle, product
from pathlib import Path

from benchmarks.kills.aftermath import MARK, Aftermath, aftermath, settled_state, warm_up
from benchmarks.kills.faults import CLOCK_LIBRARY, FAULTS, Scene, unavailable
from benchmarks.kills.instants import Instant, draw_instant, wait_until
from benchmarks.kills.kill_evidence import wait_for
from benchmarks.kills.loud_host import loud_host
from benchmarks.kills.scenarios import PROGRAM, SPINNING, Scenario, scenarios

HOME_SIZE = "64m"
ENDING_S = 60.0
LEFT = {
    "lost": "lost",
    "doubled": "doubled",
    "left running": "running",
    "left changed": "changed",
}


@contextlib.contextmanager
def home_of_its_own() -> Iterator[Path]:
    """A directory; for root a small file system, which can be filled."""
    with tempfile.TemporaryDirectory(prefix="steelyard-kills-") as name:
        is_mounted = os.geteuid() == 0 and not subprocess.call(
            ["mount", "-t", "tmpfs", "-o", f"size={HOME_SIZE},mode=0755", "none", name]
        )
        try:
            yield Path(name)
        finally:
            if is_mounted:
                subprocess.call(["umount", "-l", name])


def environment_of(home: Path, fault: str) -> dict[str, str]:
    """Everything of Steelyard's in this home."""
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "STATE", "CACHE")}
    around = {**os.environ, **places, MARK: uuid.uuid4().hex, "STEELYARD_LOCK": str(home / "lock")}
    if fault == "clock by a day":
        (home / "clock").write_text("+0")
        around |= {
            "LD_PRELOAD": str(CLOCK_LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(home / "clock"),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    return around


def part_of(process: int, name: str) -> int | None:
    """The native part of this name below a process."""
    children = Path(f"/proc/{process}/task/{process}/children")
    with contextlib.suppress(OSError):
        for child in map(int, children.read_text().split()):
            with contextlib.suppress(OSError):
                if name in os.readlink(f"/proc/{child}/exe").rpartition("/")[2]:
                    return child
            found = part_of(child, name)
            if found is not None:
                return found
    return None


def target_of(process: subprocess.Popen[bytes], part: str, patience_s: float) -> int:
    """Whom the fault befalls: the part, once it is there, or Steelyard."""
    deadline_s = time.monotonic() + patience_s
    while part and process.poll() is None and time.monotonic() < deadline_s:
        found = part_of(process.pid, part)
        if found is not None:
            return found
        time.sleep(0.002)
    return process.pid


@contextlib.contextmanager
def only_changer() -> Iterator[None]:
    """Keep tests and benchmarks of this machine from changing it meanwhile; they use this too."""
    held = os.open("/proc/sys", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def one_kill(scenario: Scenario, fault: str, instant: Instant) -> Aftermath | None:
    """One fault at an instant, and what it left; None where the session had ended before."""
    with only_changer(), home_of_its_own() as home, home_of_its_own() as aside:
        log = aside / "ended"  # Where the disk stays free.
        program = home / "program"
        program.write_text(PROGRAM.format(log=log))
        program.chmod(0o755)
        shutil.copy(spinning_program(), home / "spinning")
        environment = environment_of(home, fault)
        before = settled_state()
        process = subprocess.Popen(
            [sys.executable, "-m", "steelyard.cli.main", *scenario.arguments(home)],
            env=environment,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(instant, process, log)
        target = target_of(process, scenario.part, 5.0)
        if process.poll() is not None:
            return None
        FAULTS[fault](Scene(process, target, home))
        hung = wait_for(process, ENDING_S)
        if hung:
            process.kill()
            process.wait()
        environment.pop("LD_PRELOAD", None)
        found = aftermath(environment, log, scenario.trials, before)
        if hung:
            said = f"{hung} {found.said}".strip()
            return Aftermath(found.lost, found.doubled, found.running + 1, found.changed, said)
        return found


@functools.cache
def spinning_program() -> str:
    """A program that computes for half a second, compiled once."""
    folder = tempfile.mkdtemp(prefix="steelyard-spinning-")
    atexit.register(shutil.rmtree, folder)
    source, program = os.path.join(folder, "spinning.c"), os.path.join(folder, "spinning")
    Path(source).write_text(SPINNING)
    subprocess.run(["cc", "-O1", "-g", "-o", program, source], check=True)
    return program


Found = dict[tuple[str, str], list[tuple[Instant, Aftermath]]]


def table(found: Found) -> str:
    """A row for each scenario, with the kills of each fault and what they left, in Markdown."""
    faults = [fault for fault in FAULTS if any(fault == f for _, f in found)]
    lines = [_row(["scenario", *faults, *LEFT]), _row(["---"] * (1 + len(faults) + len(LEFT)))]
    names = sorted({scenario for scenario, _ in found})
    for name in (*names, "all"):
        own = {key: each for key, each in found.items() if name in (key[0], "all")}
        counts = [sum(len(each) for (_, f), each in own.items() if f == fault) for fault in faults]
        outcomes = [outcome for each in own.values() for _, outcome in each]
        left = [sum(getattr(one, field) for one in outcomes) for field in LEFT.values()]
        lines.append(_row([name, *counts, *left]))
    phases = Counter(instant.phase for each in found.values() for instant, _ in each)
    lines += ["", "by phase: " + ", ".join(f"{name} {count}" for name, count in phases.items())]
    return "\n".join(lines)


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def kill_all(pairs: Sequence[tuple[Scenario, str]], kills: int, draw: random.Random) -> Found:
    """Every pair in turn until there were so many kills; what was found if it is interrupted."""
    found: Found = {}
    done = 0
    with contextlib.suppress(KeyboardInterrupt):
        for scenario, fault in cycle(pairs):
            if done == kills:
                break
            instant = draw_instant(scenario, draw)
            outcome = one_kill(scenario, fault, instant)
            if outcome is None:
                continue
            done += 1
            found.setdefault((scenario.name, fault), []).append((instant, outcome))
            if not outcome.is_clean:
                print(f"{scenario.name}, {fault}, {instant}: {outcome}", flush=True)
            if done % 50 == 0:
                print(f"{done} kills so far", flush=True)
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", default="", help="scenarios with this, or one of A|B, in their names"
    )
    parser.add_argument("--json", default="", help="a file for each kill's outcome")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    missing = unavailable()
    for fault, reason in missing.items():
        print(f"not here: {fault}: {reason}")
    chosen = [one for one in scenarios() if any(part in one.name for part in given.only.split("|"))]
    pairs = [(s, f) for f, s in product(FAULTS, chosen) if f not in missing]
    draw.shuffle(pairs)  # So that an interrupted run has seen all kinds.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    warm_up()
    with loud_host() as refused:
        for reason in refused:
            print(f"stays as it is: {reason}")
        found = kill_all(pairs, given.kills, draw)
    print(table(found))
    if given.json:
        rows = [
            {"scenario": s, "fault": f, **vars(instant), **vars(one)}
            for (s, f), each in found.items()
            for instant, one in each
        ]
        Path(given.json).write_text(json.dumps(rows, indent=1))
    total = sum(len(each) for each in found.values())
    bad = sum(not one.is_clean for each in found.values() for _, one in each)
    print(f"{total} kills, {bad} with something lost, doubled, left running or left changed")
    return 1 if bad else 0


if __name__ == "__main__":
    if shutil.which("cc") is None:
        sys.exit("kills: cc is missing: apt-get install gcc")
    sys.exit(main())
