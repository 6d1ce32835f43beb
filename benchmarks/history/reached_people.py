"""Which alarms reach somebody once a run has to confirm them?

    python -m benchmarks.history.reached_people [--rounds 1000] [--seed 1] [--no-docs]

A track of 60 values with a noise of 1 %, and then one more at a time, up to 25. Either the next
three to five are 2 to 10 % too slow because the machine was disturbed and the revision is as fast
as ever, or all are 2 % slower because it is. The tool's detector looks after each value, as a check
after each commit does; where it finds a new change, the revision is run against the last one
without it, in blocks with a noise of 1 %, of which in another population one run in 20 takes 30 %
longer; the tool's own rule ends the run, after 120 blocks at the latest, and its verdict decides
whether anyone is told. Exit status 1 where a disturbed benchmark reaches anybody, or a true change
reaches fewer than 95 % by more than chance.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.judging import top_levels
from benchmarks.prove.proof_page import is_below, table, write_section
from steelyard.analysis.comparison.experiment_intervals import Inference
from steelyard.analysis.comparison.stopping import Stopping
from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.confirmation import (
    CONFIRMATION_CONFIDENCE,
    confirmation_margin,
    confirmation_verdict,
)
from steelyard.analysis.history.detector import Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.new_changes import new_changes
from steelyard.analysis.history.series import series_of_values
from steelyard.app.history.find_changes import DEFAULT_DETECTOR, NEWEST_COUNT
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.core.tracks import Change

Floats = NDArray[np.float64]
COUNT, NOISE, TRUE = 60, 0.01, 0.02
MOST_LATER = 25
MOST_BLOCKS = 120
REACHED_WANTED = 0.95
POPULATIONS = ("normal", "one run in 20 longer by 30 %")


def track(random: np.random.Generator, size: float, *, lasts: bool) -> Floats:
    """A track that is so much slower from value 60 on, or for three to five values."""
    values = 1.0 + NOISE * random.standard_normal(COUNT + MOST_LATER)
    end = len(values) if lasts else COUNT + int(random.integers(3, NEWEST_COUNT + 1))
    values[COUNT:end] *= 1.0 + size
    return values


def new_change(values: Floats) -> tuple[Change | None, int]:
    """The first new slow-down that the tool finds, and how many values after its beginning."""
    detector, usual = DETECTORS.get(DEFAULT_DETECTOR), Sensitivity()
    for seen in range(1, MOST_LATER + 1):
        series = series_of_values(values[: COUNT + seen])
        found = find_changes(series, detector, usual)
        new = new_changes(series, found, detector, usual, NEWEST_COUNT)
        slower = [
            found[at] for at in new if found[at].direction == "worse" and found[at].kind != "noise"
        ]
        if slower:
            return min(slower, key=lambda one: one.p_value), seen
    return None, MOST_LATER


def confirming_run(
    random: np.random.Generator, population: str, truth: float, margin: float
) -> Interval:
    """The ratio that a run of base against candidate ends with, by the tool's own rule."""
    spec = StoppingSpec(until="decided", budget_s=120.0, budget_blocks=3)
    rule = Stopping(spec, 2, CONFIRMATION_CONFIDENCE, margin)
    rows: list[list[float]] = []
    while len(rows) < MOST_BLOCKS:
        row = 1.0 + NOISE * random.standard_normal(2)
        if population != "normal":
            row *= np.where(random.random(2) < 0.05, 1.3, 1.0)
        row[1] *= truth
        rows.append(row.tolist())
        rule.add_block(rows[-1])
        if rule.look().done:
            break
    ended = ExperimentSpec(
        identifier="PROOF",
        kind="comparison",
        variants=(Variant("base", LaunchSpec(("true",))), Variant("new", LaunchSpec(("true",)))),
        metrics=(MetricSpec("wall_time", "s"),),
        seed=1,
        stopping=spec,
        confidence=CONFIRMATION_CONFIDENCE,
        margin_ratio=margin,
    )
    reason = "budget" if len(rows) == MOST_BLOCKS else "decided"
    tool = Inference(Experiment(ended, {}, 0.0, (), reason))
    return tool.ratios(top_levels(np.array(rows).T.tolist()))[0].interval


def main() -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-docs", action="store_true", help="only print the table")
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    held = True
    for population in POPULATIONS:
        for what in ("disturbed", "slower by 2 %"):
            random = np.random.default_rng(derive_seed(options.seed, population, what))
            said: Counter[str] = Counter()
            later: list[int] = []
            for _ in range(options.rounds):
                true = what != "disturbed"
                size = TRUE if true else float(random.uniform(0.02, 0.1))
                change, seen = new_change(track(random, size, lasts=true))
                if change is None:
                    said["not found"] += 1
                    continue
                later.append(seen)
                truth = 1.0 + TRUE if true else 1.0
                ratio = confirming_run(random, population, truth, confirmation_margin(change))
                said[confirmation_verdict(change, ratio)] += 1
            told = said["confirmed"]
            names = ("not found", "confirmed", "refuted", "unclear")
            rows.append((what, population, *(str(said[name]) for name in names)))
            rows[-1] += (f"{np.median(later):.0f}",)
            if what == "disturbed":
                held = held and told == 0
            elif population == "normal":
                held = held and not is_below(told, options.rounds, REACHED_WANTED)
    header = ("values", "runs that confirm", "not found", "confirmed", "refuted", "unclear")
    rows_of = table((*header, "values until found, median"), rows)
    lines = ["", f"{options.rounds} tracks each:", "", *rows_of, ""]
    print("\n".join(lines))
    if not options.no_docs:
        write_section("history reached", lines)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
