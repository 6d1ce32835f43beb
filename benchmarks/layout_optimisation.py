"""Do -O2 and -O3 make programs faster, whatever their layout? After Curtsinger and Berger (2013).

Programs of the suite are built with -O1, -O2 and -O3 and run in randomised blocks while their
layout moves. For each program and step a t test says whether the mean changed, or Wilcoxon's
signed-rank test over blocks where Shapiro and Wilk's finds times that are not normal; over all
programs an analysis of variance within subjects (section 6.1) of log times, by `steelyard analyze`.
Values are kept in a file, so that programs can be measured in parts.

    python -m benchmarks.layout_optimisation --data levels.json bzip2 lua zstd
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from scipy import stats

from benchmarks.layout_trials import (
    STEELYARD,
    Found,
    call,
    compared_trials,
    measured,
    primary_values,
    suite_name,
    told_options,
)
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk

LEVELS = ("-O1", "-O2", "-O3")
STEPS = tuple(pairwise(LEVELS))
ALPHA = 0.05


def measure(program: str, options: argparse.Namespace) -> Found:
    """The times of one program at each level of optimisation, block by block, in seconds."""
    names = [suite_name(program, level, options.size) for level in LEVELS]
    trials = compared_trials(
        *(word for level in LEVELS for word in ("--name", level.strip("-"))),
        *("--layout", options.layout, "--metric", options.metric, "--runs", str(options.runs)),
        *names,
    )
    return {
        level: primary_values(
            [trial for trial in trials if trial["variant"].endswith(f" {level.strip('-')}")],
            options.metric,
        )
        for level in LEVELS
    }


def p_of(result: Any) -> float:
    """The p-value of a test of scipy's, whose types do not tell of it."""
    return float(result.pvalue)


def step_test(before: Sequence[float], after: Sequence[float]) -> tuple[float, str]:
    """The p-value of no change, and which test gave it."""
    normal = [shapiro_wilk(values) for values in (before, after)]
    if all(test is None or test.p >= ALPHA for test in normal):
        return p_of(stats.ttest_ind(before, after, equal_var=False)), "t"
    return p_of(stats.wilcoxon(before, after)), "W"


def print_table(data: Mapping[str, Found]) -> None:
    """A line a program: the speed-up of each step, bold where its test rejects no change."""
    titles = [f"{before} / {after} | p" for before, after in STEPS]
    print(f"| program | {' | '.join(titles)} |\n|---|{'---|---|' * len(STEPS)}")
    changed: dict[str, list[float]] = {after: [] for _, after in STEPS}
    for program, found in data.items():
        cells: list[str] = []
        for before, after in STEPS:
            ratio = mean(found[before]) / mean(found[after])
            p, test = step_test(found[before], found[after])
            shown = f"{ratio:.3f}"
            if p < ALPHA:
                changed[after].append(ratio)
                shown = f"**{shown}**"
            cells += [shown, f"{p:.3f} ({test})"]
        print(f"| {program} | {' | '.join(cells)} |")
    for after, ratios in changed.items():
        slower = sum(ratio < 1 for ratio in ratios)
        print(f"{after}: {len(ratios)} of {len(data)} programs changed, {slower} of them slower")


def print_anova(data: Mapping[str, Found], levels: Sequence[str]) -> None:
    """The effect of these levels over all programs."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "times.csv"
        rows = [
            f"{program},{level},{value}"
            for program, found in data.items()
            for level in levels
            for value in found[level]
        ]
        table.write_text("\n".join(["program,optimisation,time", *rows]) + "\n")
        words = ["--method", "within", "--response", "time", "--factors", "optimisation"]
        options = ["--option", "transform=log", "--json", "-"]
        document = json.loads(call(STEELYARD, "analyze", table, *words, *options))
    print(f"over all programs, {' '.join(levels)}, log time:")
    for test in document["tests"]:
        degrees = ", ".join(f"{value:g}" for value in test["degrees"])
        print(f"  {test['name']} ({degrees}) = {test['statistic']:.3f}, p = {test['p']:.4f}")
    for effect in document["effects"]:
        found = effect["effect"]
        print(
            f"{effect['term']}: {found['estimate']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the file lacks, and print the table and the analyses of all."""
    options = told_options(__doc__, "layout-levels.json", arguments, layout="all@500ms")
    data = measured(options.data, options.programs, lambda program: measure(program, options))
    if not data:
        return 1
    print_table(data)
    if len(data) > 1:
        for step in (*STEPS, LEVELS):
            print_anova(data, step)
    return 0


if __name__ == "__main__":
    sys.exit(main())
