"""How precise a ratio is after the same time, by the order of the runs: blocks and parallel.

    python -m benchmarks.parallel_order [--rounds 12] [--budget 6s]

Two runs of one loop, of which the second makes 3 % more steps, are compared in both orders by
turns, on the machine as it is. The truth is the quotient of their steps: starting a program takes
some thousandths of its time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

STEPS, MORE = 60_000_000, 61_800_000
SOURCE = """
#include <stdlib.h>
int main(int count, char **words) {
    unsigned long x = 1;
    for (long n = atol(words[1]); n > 0; n--) {
        x = x * 2862933555777941757UL + 1;
        __asm__ volatile("" : "+r"(x));
    }
    return x == 0;
}
"""


def compared(folder: Path, order: str, budget: str, seed: int) -> dict[str, float]:
    """One comparison: its ratio with the interval, and the number of blocks."""
    command = [
        *(sys.executable, "-m", "steelyard.cli.main", "compare", "--wait", "--order", order),
        *("--precision", "0.001%", "--budget", budget, "--seed", str(seed)),
        *("--store", str(folder / "store"), "--json", "-"),
        *(f"{folder}/loop {STEPS}", f"{folder}/loop {MORE}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    ratio = document["comparisons"][0]["ratio"]
    blocks = document["variants"][0]["repetitions"]["execution"]
    return {"low": ratio["low"], "high": ratio["high"], "blocks": blocks}


def main() -> None:
    """Print a row for each order."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--rounds", type=int, default=12)
    asked.add_argument("--budget", default="6s")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "loop.c").write_text(SOURCE)
        subprocess.run(["cc", "-O1", "loop.c", "-o", "loop"], cwd=folder, check=True)
        found: dict[str, list[dict[str, float]]] = {"blocks": [], "parallel": []}
        for seed in range(given.rounds):
            for order, rows in found.items():
                rows.append(compared(folder, order, given.budget, seed))
    print("| order | blocks | half-width, median (range) | intervals that hold the truth |")
    print("|---|---|---|---|")
    truth = MORE / STEPS
    for order, rows in found.items():
        widths = sorted((row["high"] - row["low"]) / 2 for row in rows)
        held = sum(row["low"] <= truth <= row["high"] for row in rows)
        print(
            f"| `{order}` | {median(row['blocks'] for row in rows):.0f} | "
            f"{100 * median(widths):.2f} % ({100 * widths[0]:.2f} to {100 * widths[-1]:.2f}) | "
            f"{held} of {len(rows)} |"
        )


if __name__ == "__main__":
    main()
