"""Proves the intervals by simulation and writes the tables into docs/STATISTICS.md.

    python -m benchmarks.prove [--experiments N] [--no-docs]

Exit status 1 where an interval is too narrow and the answer does not warn of it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from multiprocessing import Pool
from typing import Any

# One thread a process: the processes already fill the CPUs.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.prove import fixed, resampling, stopped
from benchmarks.prove.fast import use_fast_tests
from benchmarks.prove.judging import CLAIMED, Tally
from benchmarks.prove.proof_page import table, write_section

EXPERIMENTS = 10_000
BOOTSTRAP_EXPERIMENTS = 2_000


def _run(job: tuple[str, tuple[Any, ...]]) -> tuple[str, list[Tally]]:
    kind, arguments = job
    simulate = {"stopped": stopped.simulate, "resampling": resampling.simulate}.get(kind)
    return kind, (simulate or fixed.simulate)(*arguments)


def _jobs(experiments: int) -> list[tuple[str, tuple[Any, ...]]]:
    bootstrap = min(experiments, BOOTSTRAP_EXPERIMENTS)
    jobs = [("fixed", (*situation, experiments)) for situation in fixed.situations()]
    jobs += [("stopped", (*situation, experiments)) for situation in stopped.situations()]
    jobs += [
        ("bootstrap", (population, "none", count, bootstrap, "bootstrap"))
        for population in fixed.POPULATIONS
        for count in (10, 20, 30)
    ]
    jobs += [("resampling", (*situation, bootstrap)) for situation in resampling.situations()]
    return jobs


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _row(tally: Tally, with_blocks: bool) -> list[str]:
    cells = [tally.quantity, *tally.situation]
    if with_blocks:
        cells.append(f"{tally.blocks / tally.count:.0f}")
    warned = [_percent(tally.warned_share), _percent(tally.unwarned_coverage)]
    coverage = [_percent(tally.coverage), _percent(tally.seen_coverage)]
    return [*cells, *coverage, *warned, tally.status]


def _section(results: Sequence[tuple[str, list[Tally]]], experiments: int) -> list[str]:
    judged = ["coverage %", "of the kinds seen %", "warned %", "coverage % if not warned", "status"]
    titles = {
        "fixed": f"Fixed numbers of blocks, {experiments} experiments each",
        "stopped": f"Stopped by precision, {experiments} experiments each",
        "bootstrap": "`--method bootstrap`, fixed numbers of blocks, "
        f"{min(experiments, BOOTSTRAP_EXPERIMENTS)} experiments each",
        "resampling": "Schemes of resampling: the mean of 10 builds of 5 executions",
    }
    lines: list[str] = []
    for kind, title in titles.items():
        tallies = [tally for key, found in results if key == kind for tally in found]
        places = ["of the", "population", "drift"]
        places += ["ideal blocks", "mean blocks"] if kind == "stopped" else ["blocks"]
        rows = [_row(t, kind == "stopped") for t in sorted(tallies, key=lambda t: t.quantity)]
        lines += ["", f"### {title}", "", *table([*places, *judged], rows)]
    return [*lines, ""]


def main() -> int:
    """Runs every situation on all CPUs; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove", description=__doc__)
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS)
    parser.add_argument("--no-docs", action="store_true", help="only print the tables")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    options = parser.parse_args()
    started = time.monotonic()
    use_fast_tests()
    with Pool(options.jobs) as pool:
        results = pool.map(_run, _jobs(options.experiments), chunksize=1)
    lines = _section(results, options.experiments)
    sys.stdout.write("\n".join(lines) + "\n")
    if not options.no_docs:
        write_section("prove", lines)
    tallies = [tally for _, found in results for tally in found]
    claimed = [tally for tally in tallies if tally.quantity in CLAIMED]
    failed = [tally for tally in claimed if tally.status == "FAILED"]
    names = ("held", "wide", "warned", "seen", "stated")
    counts = ", ".join(f"{sum(t.status == name for t in claimed)} {name}" for name in names)
    sys.stdout.write(f"{counts}, {len(failed)} failed, in {time.monotonic() - started:.0f} s\n")
    for tally in failed:
        sys.stdout.write(f"FAILED {tally.quantity} {tally.situation} {tally.coverage:.4f}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
