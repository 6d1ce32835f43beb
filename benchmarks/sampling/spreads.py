"""What the choice of times costs the sampler's reader, and what it does to intervals.

It compares the reader's processor time for a look and the widths of intervals, which a busy
machine changes little. How much slower the program becomes is told by `overhead`, on a quiet one.
"""

from __future__ import annotations

import argparse
import os
import random
from dataclasses import dataclass
from statistics import mean, median, quantiles

from scipy.stats import binom

from benchmarks.sampling.sampled_programs import Programs
from steelyard.app.profile.record_profile import read_answer
from steelyard.core.estimate import Estimate
from steelyard.profile.recording_request import Recording, Spread
from steelyard.profile.sampler import record

SPREADS: tuple[Spread, ...] = ("uniform", "rounds", "fixed")
RATES_HZ = (1_000, 10_000)
# Of `loops` in shares.c.
FUNCTION, SHARE = "four", 4 / 7
CONFIDENCE, UNLIKELY = 0.95, 0.001


@dataclass(frozen=True)
class Run:
    """What a look of a recording cost, and the share that it found."""

    handling_us: float
    share: Estimate

    @property
    def covers(self) -> bool:
        """Whether the interval has the truth."""
        return self.share.low <= SHARE <= self.share.high


def prove(programs: Programs, options: argparse.Namespace) -> bool:
    """Print a row for each rate and spread; whether the intervals of random times hold."""
    print(
        "| looks a second | spread | reader, µs of processor time a look | width, points | cover |"
    )
    print("|---|---|---|---|---|")
    order = random.Random(options.seed)
    holds = True
    for rate_hz in RATES_HZ:
        runs: dict[Spread, list[Run]] = {spread: [] for spread in SPREADS}
        for _ in range(options.blocks):
            for spread in order.sample(SPREADS, len(SPREADS)):
                seed = order.getrandbits(32)
                runs[spread].append(_run(programs, rate_hz, spread, seed, options.spread_ms))
        for spread, found in runs.items():
            covered = sum(run.covers for run in found)
            least = int(binom.ppf(UNLIKELY, len(found), CONFIDENCE))
            holds = holds and (spread == "fixed" or covered >= least)
            _print_row(rate_hz, spread, found, covered)
    return holds


def _run(programs: Programs, rate_hz: int, spread: Spread, seed: int, limit_ms: int) -> Run:
    argv = (programs.shares, "loops", str(limit_ms))
    recording = Recording(programs.profile, argv, period_ns=1e9 / rate_hz, spread=spread, seed=seed)
    summary = record(recording)
    answer = read_answer(programs.profile, CONFIDENCE)
    os.remove(programs.profile)
    (share,) = (item.share for item in answer.functions if item.frame.name == FUNCTION)
    assert isinstance(share, Estimate)
    looks = len(answer.recorded.look_times_ns)
    return Run(float(summary["handling_ns"]) / 1e3 / looks, share)


def _print_row(rate_hz: int, spread: Spread, runs: list[Run], covered: int) -> None:
    low, _, high = quantiles([run.handling_us for run in runs], n=4)
    middle = median(run.handling_us for run in runs)
    width = 100 * mean(run.share.high - run.share.low for run in runs)
    print(
        f"| {rate_hz} | {spread} | {middle:.2f} ({low:.2f} to {high:.2f}) | {width:.1f} | "
        f"{covered} of {len(runs)} |",
        flush=True,
    )
