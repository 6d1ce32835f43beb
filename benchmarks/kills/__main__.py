"""End Steelyard and its parts in every way, at random instants, and count what is lost by it.

    .venv/bin/python -m benchmarks.kills --kills 1000 --seed 1

It runs every scenario under every fault in turn, each at an instant drawn from the seed, in a file
system of its own, and prints a table: a row a scenario and fault with what was lost, doubled, left
running and left changed. It ends with 1 if anything was; interrupted, it tells what
it has found. As root it makes all faults; the clock is
that of libfaketime, so that the machine's own stays right.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
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
from collections.abc import Iterator
from itertools import cycle, islice, product
from pathlib import Path

from benchmarks.kills.aftermath import MARK, Aftermath, aftermath, host_state
from benchmarks.kills.faults import CLOCK_LIBRARY, FAULTS, Scene, unavailable
from benchmarks.kills.scenarios import PROGRAM, SPINNING, Scenario, scenarios

HOME_SIZE = "64m"
ENDING_S = 60.0


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
        time.sleep(0.01)
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


def one_kill(scenario: Scenario, fault: str, draw: random.Random) -> Aftermath:
    """One fault at a random instant, and what it left."""
    with only_changer(), home_of_its_own() as home:
        program = home / "program"
        program.write_text(PROGRAM.format(log=home / "ended"))
        program.chmod(0o755)
        (home / "spinning.c").write_text(SPINNING)
        subprocess.run(
            ["cc", "-O1", "-g", "-o", str(home / "spinning"), str(home / "spinning.c")], check=True
        )
        environment = environment_of(home, fault)
        before = host_state()
        process = subprocess.Popen(
            [sys.executable, "-m", "steelyard.cli.main", *scenario.arguments(home)],
            env=environment,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(draw.uniform(0.0, scenario.lasts_s))
        target = target_of(process, scenario.part, 5.0)
        FAULTS[fault](Scene(process, target, home))
        hung = False
        try:
            process.wait(timeout=ENDING_S)
        except subprocess.TimeoutExpired:
            hung = True
            process.kill()
            process.wait()
        environment.pop("LD_PRELOAD", None)
        found = aftermath(environment, home, scenario.trials, before)
        if hung:
            return Aftermath(found.lost, found.doubled, found.running + 1, found.changed, "hung")
        return found


def table(found: dict[tuple[str, str], list[Aftermath]]) -> str:
    """A row for each scenario and fault, in Markdown."""
    lines = ["| scenario | fault | kills | lost | doubled | left running | left changed | said |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for (scenario, fault), all_of in found.items():
        sums = [sum(getattr(one, n) for one in all_of) for n in ("lost", "doubled", "running")]
        changed = sum(one.changed for one in all_of)
        said = "; ".join(dict.fromkeys(one.said for one in all_of if one.said))
        cells = [scenario, fault, len(all_of), *sums, changed, said.replace("\n", " ")]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="scenarios whose names have this in them")
    parser.add_argument("--json", default="", help="a file for each kill's outcome")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    missing = unavailable()
    for fault, reason in missing.items():
        print(f"not here: {fault}: {reason}")
    chosen = [one for one in scenarios() if given.only in one.name]
    pairs = [(s, f) for f, s in product(FAULTS, chosen) if f not in missing]
    draw.shuffle(pairs)  # So that an interrupted run has seen all kinds.
    found: dict[tuple[str, str], list[Aftermath]] = {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):  # What was found so far is told.
        for scenario, fault in islice(cycle(pairs), given.kills):
            outcome = one_kill(scenario, fault, draw)
            found.setdefault((scenario.name, fault), []).append(outcome)
            if not outcome.is_clean:
                print(f"{scenario.name}, {fault}: {outcome}", flush=True)
    print(table(found))
    if given.json:
        rows = [
            {"scenario": s, "fault": f, **vars(one)}
            for (s, f), each in found.items()
            for one in each
        ]
        Path(given.json).write_text(json.dumps(rows, indent=1))
    total = sum(len(each) for each in found.values())
    bad = sum(not one.is_clean for each in found.values() for one in each)
    print(f"{total} kills, {bad} with something lost, doubled, left running or left changed")
    return 1 if bad else 0


if __name__ == "__main__":
    if shutil.which("cc") is None:
        sys.exit("kills: cc is missing: apt-get install gcc")
    sys.exit(main())
