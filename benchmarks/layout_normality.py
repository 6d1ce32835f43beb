"""Are times normal, and do they vary less, when the layout is drawn anew while a program runs?

30 executions of each program at three levels of its layout, in randomised blocks: left alone, drawn
once at the start, and drawn anew at every interval. Then the tests of Curtsinger and Berger (2013),
section 5.1: Shapiro-Wilk for each, Brown-Forsythe between the last two, as in their Table 1, and
their Figure 5. A program that is left alone shows what the machine does to times: where these are
not normal, those of random layouts cannot be. Values are kept in a file, so that programs can be
measured in parts and the table made of all.

    python -m benchmarks.layout_normality --data normality.json --plot qq.svg bzip2 lua zstd
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from statistics import mean, median, stdev
from typing import Any

import numpy as np

from benchmarks.layout_trials import (
    Found,
    compared_trials,
    measured,
    primary_values,
    suite_name,
    told_options,
)
from steelyard.analysis.distributions.table_distributions import normal_scores
from steelyard.analysis.tests.equal_variances import levene
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk

ALPHA = 0.05
# Curtsinger and Berger: 16 of 18 programs are normal with re-randomisation.
PAPER_SHARE = 16 / 18
COLUMNS = 5
LEVELS = {"alone": "left alone", "once": "drawn once", "again": "re-randomised"}
KEYS = {"none": "alone", "off": "once"}


def measure(program: str, options: argparse.Namespace) -> Found:
    """The times of one program at each level, in seconds, and its moves."""
    trials = compared_trials(
        *("--layout", "none", "--layout", "all@off", "--layout", f"all@{options.interval}"),
        *("--metric", options.metric, "--runs", str(options.runs)),
        suite_name(program, options.flags, options.size),
    )
    kept: dict[str, list[Any]] = {level: [] for level in LEVELS}
    for trial in trials:
        realised = trial["realised"]["layout"]
        kept[KEYS.get(realised.rpartition("@")[2], "again")].append(trial)
    times = {level: primary_values(own, options.metric) for level, own in kept.items()}
    moves = [trial["details"]["layout"]["moves"] for trial in kept["again"]]
    return {**times, "moves": moves}


def p_of_normality(values: Sequence[float]) -> float:
    """Of the test by Shapiro and Wilk."""
    test = shapiro_wilk(values)
    return 1.0 if test is None or test.p is None else test.p


def p_of_equal_variances(found: Found) -> float:
    """Of the test by Brown and Forsythe."""
    values = np.array([*found["once"], *found["again"]])
    group = np.repeat([0, 1], [len(found["once"]), len(found["again"])])
    test = levene(values, group, "median")
    return 1.0 if test is None or test.p is None else test.p


def print_table(data: Mapping[str, Found]) -> int:
    """A line a program, then the counts; the number that is normal with re-randomisation."""
    print(f"| program | Shapiro-Wilk p: {' | '.join(LEVELS.values())} | Brown-Forsythe p", end="")
    print(f" | CoV: {' | '.join(LEVELS.values())} | re-randomised / once | moves |")
    print("|---" * (2 * len(LEVELS) + 4) + "|")
    counts: dict[str, int] = dict.fromkeys((*LEVELS, "falls", "grows", "both"), 0)
    for program, found in data.items():
        p = {key: p_of_normality(found[key]) for key in LEVELS}
        unequal = p_of_equal_variances(found)
        for key, value in p.items():
            counts[key] += value >= ALPHA
        counts["both"] += min(p["alone"], p["again"]) >= ALPHA
        if unequal < ALPHA:
            less = stdev(found["again"]) < stdev(found["once"])
            counts["falls" if less else "grows"] += 1
        cells = [*map(marked, p.values()), marked(unequal)]
        cells += [f"{100 * stdev(found[key]) / mean(found[key]):.2f} %" for key in LEVELS]
        cells.append(f"{mean(found['again']) / mean(found['once']):.3f}")
        print(f"| {program} | {' | '.join(cells)} | {median(found['moves']):.0f} |")
    shown = ", ".join(f"{counts[key]} {words}" for key, words in LEVELS.items())
    print(f"normal at {ALPHA:.0%}, of {len(data)}: {shown}")
    print(
        f"of the {counts['alone']} that are normal when left alone, re-randomised {counts['both']}"
    )
    print(f"variance falls by re-randomisation in {counts['falls']}, grows in {counts['grows']}")
    return counts["again"]


def marked(p: float) -> str:
    """A p-value, bold where the hypothesis is rejected."""
    return f"**{p:.3f}**" if p < ALPHA else f"{p:.3f}"


def plot(data: Mapping[str, Found], path: str) -> None:
    """Normal Q-Q plots, one a program, in per cent of the mean with one layout."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = -(-len(data) // COLUMNS)
    figure, axes = pyplot.subplots(
        rows, COLUMNS, figsize=(2.4 * COLUMNS, 2.0 * rows), sharex=True, squeeze=False
    )
    for axis in axes.flat[len(data) :]:
        axis.set_visible(False)
    for axis, (program, found) in zip(axes.flat, data.items(), strict=False):
        centre = mean(found["once"])
        for key, color in (("once", "#b5532a"), ("again", "#2a6fb5")):
            shown = np.sort(100 * (np.array(found[key]) / centre - 1))
            scores = normal_scores(len(shown))
            low, high = np.percentile(shown, [25, 75])
            slope = (high - low) / (2 * 0.6745)  # The quartiles of the standard normal.
            middle = (low + high) / 2
            ends = np.array([scores[0], scores[-1]])
            axis.plot(ends, middle + slope * ends, color=color, linewidth=0.6, alpha=0.6)
            axis.scatter(scores, shown, s=7, color=color, label=LEVELS[key], linewidths=0)
        axis.set_title(program, fontsize=8, pad=3)
        axis.tick_params(labelsize=6)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=2, fontsize=8, frameon=False)
    figure.supxlabel("quantile of the standard normal distribution", fontsize=8)
    figure.supylabel("time, per cent from the mean with one layout", fontsize=8)
    figure.tight_layout(rect=(0.01, 0.01, 1, 0.96))
    figure.savefig(path, dpi=110, metadata={"Date": None} if path.endswith(".svg") else None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the file lacks, print the table of all, and say whether it holds."""
    more = {"interval": "500ms", "flags": "-O2", "plot": None}
    options = told_options(__doc__, "layout-normality.json", arguments, **more)
    data = measured(options.data, options.programs, lambda program: measure(program, options))
    if not data:
        return 1
    normal = print_table(data)
    if options.plot:
        plot(data, options.plot)
    holds = normal >= PAPER_SHARE * len(data)
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
