"""How fast is Steelyard itself? Help, and a thousand executions beside hyperfine.

Both tools run in turn, A B A B ..., and what counts is the ratio pair by pair.

    .venv/bin/python -m benchmarks.speed
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

STEELYARD = str(Path(sys.executable).with_name("steelyard"))
HELP_LIMIT_S = 0.15


def wall_s(argv: Sequence[str]) -> float:
    """Wall time of a whole process, its output thrown away."""
    started_s = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started_s


def steelyard_pass(home: Path, runs: int) -> tuple[float, float]:
    """Wall time of the whole, and the mean time that it reports, in seconds."""
    target = home / "steelyard.json"
    taken_s = wall_s(
        [
            STEELYARD,
            "measure",
            "--runs",
            str(runs),
            "--store",
            str(home / "store.sqlite"),
            "--json",
            str(target),
            "--",
            "true",
        ]
    )
    document = json.loads(target.read_text())
    return taken_s, document["variants"][0]["metrics"]["wall_time"]["mean"]["estimate"]


def hyperfine_pass(home: Path, runs: int) -> tuple[float, float]:
    """The same by hyperfine, without a shell."""
    target = home / "hyperfine.json"
    measure = ["hyperfine", "-N", "--runs", str(runs)]
    taken_s = wall_s([*measure, "true"])
    wall_s([*measure, "--export-json", str(target), "true"])
    return taken_s, json.loads(target.read_text())["results"][0]["mean"]


def paired(
    first: Callable[[], tuple[float, float]],
    second: Callable[[], tuple[float, float]],
    pairs: int,
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Both in turn, after one pass of each that is not counted."""
    first()
    second()
    return [(first(), second()) for _ in range(pairs)]


def spread(values: Sequence[float], form: str) -> str:
    """Minimum, median and maximum."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def main() -> None:
    """Measure, print, and fail where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()

    help_s = [wall_s([STEELYARD, "--help"]) for _ in range(options.pairs + 1)][1:]
    print(f"steelyard --help: {spread([s * 1e3 for s in help_s], '.0f')} ms")

    with tempfile.TemporaryDirectory(prefix="steelyard-speed-") as name:
        home = Path(name)
        pairs = paired(
            lambda: steelyard_pass(home, options.runs),
            lambda: hyperfine_pass(home, options.runs),
            options.pairs,
        )
    totals = [ours[0] / theirs[0] for ours, theirs in pairs]
    reported = [ours[1] / theirs[1] for ours, theirs in pairs]
    print(
        f"{options.runs} executions of true, steelyard measure: "
        f"{spread([ours[0] * 1e3 for ours, _ in pairs], '.0f')} ms in all, "
        f"{spread([ours[1] * 1e6 for ours, _ in pairs], '.0f')} µs reported"
    )
    print(
        f"{options.runs} executions of true, hyperfine -N:      "
        f"{spread([theirs[0] * 1e3 for _, theirs in pairs], '.0f')} ms in all, "
        f"{spread([theirs[1] * 1e6 for _, theirs in pairs], '.0f')} µs reported"
    )
    print(f"steelyard / hyperfine, total wall time: {spread(totals, '.3f')}")
    print(f"steelyard / hyperfine, reported time:   {spread(reported, '.3f')}")
    holds = (
        statistics.median(help_s) < HELP_LIMIT_S
        and statistics.median(totals) <= 1
        and statistics.median(reported) <= 1
    )
    print("holds" if holds else "DOES NOT HOLD")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
