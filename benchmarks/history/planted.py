"""Does history bisect find slow-downs of 1, 3 and 10 % that were planted in a real program?

    python -m benchmarks.history.planted [--sizes 1,3,10] [--seed 1] [--budget 10min]

The suite's nbody, with a history of 100 revisions of which each changes some lines, and one tenth
does not build; one revision, drawn by the seed, attracts the bodies once more every 100th, 33rd or
10th step. The budget is stated before; each search is the command as a user types it, with a store
of its own. Exit status 1 where one names another revision, or ends without the wanted confidence.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.prove.proof_page import table
from tests.repositories import Planned, make_repository

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "src" / "steelyard" / "suite"
FOLDER = ROOT / "build" / "planted"
COUNT = 100
EVERY = {1: 100, 3: 33, 10: 10}
BUILD = "cc -O2 -std=c11 -I. nbody.c -lm -o nbody"
RUN = "./nbody places.txt 64 400 10"


def repository(size: int, seed: int) -> tuple[Path, list[str], int]:
    """A repository, its revisions, and the number of the one that has the slow-down."""
    drawn = random.Random(f"{seed} {size}")
    culprit = drawn.randrange(2, COUNT - 1)
    broken = {n for n in range(1, COUNT - 1) if n != culprit and drawn.random() < 0.1}
    source = (SUITE / "recipes" / "nbody" / "nbody.c").read_text("utf-8")
    headers = {
        "program.h": (SUITE / "shared" / "c-program" / "program.h").read_text("utf-8"),
        "steelyard.h": (SUITE / "shared" / "iterations" / "steelyard.h").read_text("utf-8"),
        "places.txt": " ".join(str(drawn.random()) for _ in range(400)),
    }
    loop = "        attract(bodies, count);\n"
    slow = f"{loop}        if (step % {EVERY[size]} == 0) attract(bodies, count);\n"
    planned: list[Planned] = []
    for n in range(COUNT):
        text = source.replace(loop, slow) if n >= culprit else source
        assert (text != source) == (n >= culprit)
        note = f"/* {n} */\n" * drawn.randrange(1, 20)
        files = {**headers, "nbody.c": text + note + ("#error\n" if n in broken else "")}
        planned.append(Planned(f"c{n}", (f"c{n - 1}",) if n else (), files))
    path = FOLDER / str(size)
    shutil.rmtree(path, ignore_errors=True)
    names = make_repository(path / "repository", planned)
    return path, [names[f"c{n}"] for n in range(COUNT)], culprit


def main() -> int:
    """Plant, search, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,3,10")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", default="10min")
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    right = True
    for size in map(int, options.sizes.split(",")):
        path, names, culprit = repository(size, options.seed)
        started_s = time.monotonic()
        told = subprocess.run(
            [
                *(sys.executable, "-m", "steelyard.cli.main", "history", "bisect"),
                *("--repository", str(path / "repository"), "--good", names[0], "--bad", names[-1]),
                *("--build", BUILD, "--run", RUN, "--margin", "0.3%", "--budget", options.budget),
                *("--store", str(path / "store.sqlite"), "--json", "-"),
            ],
            check=False,
            stdout=subprocess.PIPE,
            text=True,
        )
        spent_s = time.monotonic() - started_s
        answer = json.loads(told.stdout)
        if answer["kind"] == "error":
            rows.append((f"{size} %", "no answer", answer["message"], "", "", f"{spent_s:.0f}"))
            right = False
            continue
        found = names[culprit] in answer["inseparable"]
        right = right and found and answer["stopped"] != "budget"
        runs = sum(test["runs"] for test in answer["tests"])
        measured = answer["size"]
        rows.append(
            (
                f"{size} %",
                "found" if found else "another",
                f"{len(answer['inseparable'])}, {100 * answer['probability']:.2f} %",
                f"{len(answer['tests'])}, {runs}",
                ""
                if measured is None or measured["low"] is None
                else f"{measured['estimate']:.4f} [{measured['low']:.4f}, {measured['high']:.4f}]",
                f"{spent_s:.0f}",
            )
        )
    header = ("planted", "revision", "named, probability", "tests, runs", "size (95 %)", "s in all")
    print("\n".join(table(header, rows)))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
