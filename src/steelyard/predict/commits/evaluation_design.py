"""How predictors are evaluated, and what is to be said of a table that they are evaluated on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.core.experiment_results import Caution
from steelyard.predict.commits.independent_changes import change_of_row
from steelyard.predict.commits.pair_table import PairTable

# What Tables 6.3 and 6.4 and Figures 6.4 and 6.5 are of, and the one that counts: chronological.
DESIGNS = (
    "all-learnt", "folds-by-benchmark", "folds", "learnt-size", "chronological", "distance",
    "across-projects",
)  # fmt: skip
CHOSEN = "chosen"
# Learnt from by themselves: of more benchmarks, or pairs of projects, so many are drawn.
MOST_PARTS = 250


@dataclass(frozen=True)
class EvaluationDesign:
    """What is evaluated.

    Parameters
    ----------
    designs : tuple of str
        Of `DESIGNS`.
    models : tuple of str
        Names of models, or ``chosen``: the one that the learnt rows speak for.
    folds : int
        At least 2.
    learnt_ratio : float
        The share of revisions, from the oldest, that the chronological design learns from.
    hit_rate : float
        The wanted one.
    seed : int
        Of the folds.
    """

    designs: tuple[str, ...] = DESIGNS
    models: tuple[str, ...] = ("thresholds", CHOSEN)
    folds: int = 10
    learnt_ratio: float = 0.25
    hit_rate: float = 0.95
    seed: int = 1


def cautions(table: PairTable, decided: PairTable, design: EvaluationDesign) -> Iterator[Caution]:
    """What limits the rates of a table; `decided` are its rows with a label."""
    hits = int(decided.hits.sum())
    if hits < 100:
        yield Caution(
            "few-hits",
            f"The table has {hits} changes. Bounds of a hit rate are wide below 100.",
        )
    changes = len(np.unique(change_of_row(decided, decided.hits)))
    if changes < hits:
        yield Caution(
            "dependent-hits",
            f"{'One commit' if changes == 1 else f'{changes} commits'} can explain all {hits} "
            "changed rows. Bounds take rows for independent, and so are too narrow.",
        )
    undecided = len(table) - len(decided)
    if undecided:
        yield Caution("undecided", f"{undecided} of {len(table)} rows have no label: left out.")
    yield from _drawn_parts(decided, design)


def _drawn_parts(decided: PairTable, design: EvaluationDesign) -> Iterator[Caution]:
    """Which designs answer only what was drawn."""
    places = len(set(zip(decided.projects, decided.benchmarks, strict=True)))
    projects = len(set(decided.projects))
    parts = {
        "all-learnt": (places, "benchmarks"),
        "folds-by-benchmark": (places, "benchmarks"),
        "across-projects": (projects * (projects - 1), "pairs of projects"),
    }
    for name in design.designs:
        count, what = parts.get(name, (0, ""))
        if count > MOST_PARTS:
            yield Caution(
                "drawn-parts",
                f"{name} learns from each by itself: {MOST_PARTS} of {count} {what} were drawn.",
            )
