"""How soon does `measure` show a number, and one worth having, on a loud machine?

A program of about 0.3 s is measured while one process for each CPU computes and rests by turns, for
times drawn from the seed. What is read is what a person sees: the live line of a terminal.

    .venv/bin/python -m benchmarks.first_answer --rounds 6 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Process
from pathlib import Path

STEELYARD = str(Path(sys.executable).with_name("steelyard"))
SOURCE = """
#include <stdlib.h>
int main(int count, char **words) {
    volatile long s = 0;
    for (long i = 0; i < atol(words[count - 1]); i++) s += i;
    return 0;
}
"""
PROGRAM_S = 0.3
# Both tempers of the load, computing and resting, take this on average.
LOAD_SPELL_S = 0.2
BUDGET_S = 15
FIRST_WITHIN_S, WORTH_WITHIN_S, WORTH_RATIO = 3.0, 15.0, 0.05
LOOK = re.compile(r"wall_time [\d.]+ \w+(?: ± ([\d.]+) %)?")


@dataclass(frozen=True)
class Shown:
    """When the live line had a number, and one within 5 %; None: never. The last precision, and
    that of the processor time in the answer."""

    first_s: float
    worth_s: float | None
    last_ratio: float | None
    cpu_ratio: float | None = None


def disturb(seed: int) -> None:
    """Compute and rest by turns, for ever."""
    draw = random.Random(seed)
    while True:
        until_s = time.perf_counter() + draw.expovariate(1 / LOAD_SPELL_S)
        while time.perf_counter() < until_s:
            pass
        time.sleep(draw.expovariate(1 / LOAD_SPELL_S))


@contextmanager
def load(seed: int) -> Iterator[None]:
    """A loud machine: a disturbing process for each CPU."""
    processes = [
        Process(target=disturb, args=(seed + cpu,), daemon=True)
        for cpu in range(os.cpu_count() or 1)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def built(folder: Path) -> list[str]:
    """The program, with as many turns as take it about 0.3 s of processor time."""
    (folder / "program.c").write_text(SOURCE)
    program = str(folder / "program")
    subprocess.run(["cc", "-O1", str(folder / "program.c"), "-o", program], check=True)
    turns = 20_000_000
    before_s = os.times().children_user
    subprocess.run([program, str(turns)], check=True)
    return [program, str(round(turns * PROGRAM_S / (os.times().children_user - before_s)))]


def watched(argv: list[str], environment: dict[str, str]) -> Shown:
    """One `measure` on a terminal, and what its live line said when."""
    ours, theirs = pty.openpty()
    started_s = time.perf_counter()
    call = [STEELYARD, "measure", "--budget", f"{BUDGET_S}s", "--", *argv]
    process = subprocess.Popen(
        call, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    first_s: float | None = None
    worth_s: float | None = None
    last: float | None = None
    while True:
        try:
            text = os.read(ours, 65536).decode("utf-8", "replace")
        except OSError:
            break
        now_s = time.perf_counter() - started_s
        for look in LOOK.finditer(text):
            first_s = now_s if first_s is None else first_s
            if look[1] is not None:
                last = float(look[1]) / 100
                if last <= WORTH_RATIO and worth_s is None:
                    worth_s = now_s
    process.wait()
    os.close(ours)
    if first_s is None:
        raise RuntimeError("The live line never had a number.")
    return Shown(first_s, worth_s, last, cpu_ratio(environment))


def cpu_ratio(environment: dict[str, str]) -> float | None:
    """The half-width of the mean processor time of the newest answer, relative to it."""
    call = [STEELYARD, "report", "latest", "--json", "-"]
    told = subprocess.run(call, check=True, env=environment, capture_output=True).stdout
    mean = json.loads(told)["variants"][0]["metrics"]["cpu_time"]["mean"]
    if mean.get("low") is None or mean.get("high") is None:
        return None
    return (mean["high"] - mean["low"]) / 2 / mean["estimate"]


def percent(ratio: float | None) -> str:
    """Words for a precision."""
    return "–" if ratio is None else f"± {100 * ratio:.1f} %"


def main() -> int:
    """Measure under load, and say whether both limits hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found: list[Shown] = []
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "STATE", "CACHE")}
        environment = {**os.environ, **homes, "TERM": "xterm", "STEELYARD_CONFIG": ""}
        environment["STEELYARD_LOCK"] = str(folder / "lock")
        argv = built(folder)
        heads = ("first", "within 5 %", "after 15 s", "CPU time")
        print("round  " + " ".join(f"{head:>11}" for head in heads))
        for index in range(given.rounds):
            with load(given.seed + 1000 * index):
                loud = watched(argv, environment)
            found.append(loud)
            worth = "never" if loud.worth_s is None else f"{loud.worth_s:.1f} s"
            cells = (worth, percent(loud.last_ratio), percent(loud.cpu_ratio))
            shown = (f"{loud.first_s:.2f} s", *cells)
            print(f"{index:>5}  " + " ".join(f"{each:>11}" for each in shown), flush=True)
    firsts = [shown.first_s for shown in found]
    worths = [shown.worth_s for shown in found if shown.worth_s is not None]
    soon = max(firsts) <= FIRST_WITHIN_S
    good = len(worths) == len(found) and max(worths) <= WORTH_WITHIN_S
    print(f"first number: median {statistics.median(firsts):.2f} s, latest {max(firsts):.2f} s")
    print(f"within 5 %: {len(worths)} of {len(found)} rounds in {BUDGET_S} s")
    print(f"first number within {FIRST_WITHIN_S:g} s: {'holds' if soon else 'DOES NOT HOLD'}")
    print(f"± 5 % within {WORTH_WITHIN_S:g} s: {'holds' if good else 'DOES NOT HOLD'}")
    return 0 if soon and good else 1


if __name__ == "__main__":
    sys.exit(main())
