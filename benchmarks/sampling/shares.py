"""Programs whose functions take known shares of the time."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from benchmarks.sampling.sampled_programs import Programs, recorded, verdict
from steelyard.analysis.profiles.profile_samples import independent_count, share_estimate
from steelyard.core.estimate import Estimate
from steelyard.profile.recording_request import Recording

# Turns of each function in shares.c for one round.
TURNS = {
    "loops": {"one": 1, "two": 2, "four": 4},
    "nested": {"inner": 2, "outer": 3},
    "recursive": {"descend": 8, "bottom": 8},
    "threads": {"one": 1, "two": 2, "four": 4},
    "short": {"brief": 8, "longer": 24},
    "library": {"here": 1, "in_library": 2},
    "jit": {"jitted_one": 1, "jitted_three": 3},
}
WITHIN_POINTS, FEWEST_SAMPLES = 1.0, 20_000
CONFIDENCE = 0.95
# A number of covering intervals that fewer experiments in a thousand would give is wrong.
UNLIKELY = 0.001


def _coverage_holds(covered: int, count: int) -> bool:
    """Whether so many of `count` intervals may cover where each does with the confidence."""
    return bool(np.greater(binom.cdf(covered, count, CONFIDENCE), UNLIKELY))


def prove(programs: Programs, options: argparse.Namespace) -> bool:
    """Print a row for each function, and how often the intervals covered."""
    print("| program | function | samples | truth | found | off, points | intervals that cover |")
    print("|---|---|---|---|---|---|---|")
    holds, intervals, covering = True, 0, 0
    for program, turns in TURNS.items():
        if program == "jit" and platform.machine() != "x86_64":
            print("| jit | left out: its code is for x86-64 | | | | | |")
            continue
        runs = [_run(programs, program, options, number) for number in range(options.repeats)]
        total = sum(sum(run.counts) for run in runs)
        for index, (function, part) in enumerate(turns.items()):
            truth = part / sum(turns.values())
            share = sum(run.counts[index] for run in runs) / total
            estimates = [run.estimate(index) for run in runs]
            covered = sum(item.low <= truth <= item.high for item in estimates)
            off = 100 * abs(share - truth)
            holds = holds and off <= WITHIN_POINTS
            intervals, covering = intervals + len(runs), covering + covered
            print(
                f"| {program} | `{function}` | {total} | {100 * truth:.2f} % | "
                f"{100 * share:.2f} % | {off:.2f} | {covered} of {len(runs)} |",
                flush=True,
            )
        if total < FEWEST_SAMPLES:
            print(f"  {program}: fewer than {FEWEST_SAMPLES} samples; take more --repeats")
            holds = False
    covers = _coverage_holds(covering, intervals)
    print(
        f"intervals of {100 * CONFIDENCE:.0f} % that cover: {covering} of {intervals}, "
        f"{100 * covering / intervals:.1f} %: {verdict(covers)}"
    )
    return holds and covers


@dataclass(frozen=True)
class _Run:
    """Samples in each function of one recording, and what part of them is worth a look each."""

    counts: Sequence[int]
    worth_ratio: float

    def estimate(self, index: int) -> Estimate:
        """The share of one function."""
        total = sum(self.counts)
        return share_estimate(self.counts[index], total, CONFIDENCE, self.worth_ratio * total)


def _run(programs: Programs, program: str, options: argparse.Namespace, number: int) -> _Run:
    """One recording."""
    recording = Recording(
        output=programs.profile,
        argv=(programs.shares, program, str(options.share_ms)),
        period_ns=options.share_period_us * 1e3,
        spread=options.spread,
        seed=options.seed + number,
    )
    found = recorded(recording)
    os.remove(programs.profile)
    for process in set(found.samples.processes.tolist()):
        perf_map = f"/tmp/perf-{process}.map"
        if program == "jit" and os.path.exists(perf_map):
            os.remove(perf_map)
    worth = independent_count(found.samples) / len(found.samples.functions)
    return _Run(found.counts(list(TURNS[program])), worth)
