"""Can this comparison's sign flip? One or many programs over randomised setups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.bias.conclusions import conclusion
from steelyard.analysis.bias.setup_figures import ratio_histogram, ratio_violins
from steelyard.analysis.bias.setup_ratios import (
    SetupRatios,
    ratio_over_setups,
    setup_ratios,
    setups_differ,
    share_below,
    sign_flip,
)
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.figure_values import Figure
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect, Test
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

METHOD = "bias"
# Fewer setups than that say little of those that were not tried; Mytkowicz has 33 and more.
_FEW_SETUPS = 20


@dataclass(frozen=True)
class SetupColumns:
    """What the rows say of setups.

    Parameters
    ----------
    variant : Factor
        Its first level is the baseline, its second the candidate.
    parts : tuple of Factor
        What setups are composed of; their combinations are the setups.
    program : Factor or None
        None where there is one program.
    marks : tuple of str
        Levels of parts whose setups are marked in pictures, such as ``default``.
    order : array or None
        When each row was made, as numbers that grow; None where that is not known.
    """

    variant: Factor
    parts: tuple[Factor, ...]
    program: Factor | None = None
    marks: tuple[str, ...] = ()
    order: Floats | None = None


def measurement_bias(
    columns: SetupColumns, response: str, unit: str, values: Floats, confidence: float
) -> Analysis:
    """Compare two variants in every setup.

    Raises
    ------
    AnalysisError
        Not two variants, a response that is not above 0, or no setup with both.

    Notes
    -----
    Mytkowicz, Supporting Experiments in Computer Systems Research (2010), chapter 4: figures 4.1
    (violins), 4.5 (diversity of the suite) and 4.6 (interval over randomised setups).
    """
    _check(columns, values)
    setup, names = _setups(columns.parts)
    programs = _programs(columns, setup, values)
    effects: list[Effect] = []
    tests: list[Test] = []
    sentences: list[str] = []
    facts: dict[str, float | str] = {}
    over = f"{columns.variant.levels[1]} / {columns.variant.levels[0]}"
    for found in programs:
        prefix = f"{found.program}: " if columns.program is not None else ""
        of_setup = [part.codes for part in _part_levels(columns.parts, setup)]
        parts = [levels[found.setups] for levels in of_setup]
        interval = ratio_over_setups(found, parts, confidence)
        effects.append(Effect(f"{prefix}{over}", interval, "ratio-of-means"))
        effects.append(
            Effect(f"{prefix}setups below 1", share_below(found, confidence), "share-of-setups")
        )
        test = setups_differ(found)
        tests += [] if test is None else [test]
        key = f"_{found.program}" if columns.program is not None else ""
        facts[f"lowest_ratio{key}"] = float(found.ratios.min())
        facts[f"highest_ratio{key}"] = float(found.ratios.max())
        flip = sign_flip(found, confidence)
        sentences.append(f"{prefix}{conclusion(found, flip, test, over, confidence)}")
    suite, figures = _suite(programs, len(names), confidence, over, effects[0].effect)
    ranges = [float(np.ptp(found.ratios)) for found in programs]
    if len(programs) > 1:
        crossing = sum(bool((f.ratios < 1).any() and (f.ratios > 1).any()) for f in programs)
        sentences.insert(
            0,
            f"{crossing} of {len(programs)} programs have setups on both sides of 1; the range of "
            f"the ratio over setups is {np.median(ranges):.3f} in the median and "
            f"{max(ranges):.3f} at the most.",
        )
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=(*suite, *effects),
        tests=tuple(tests),
        assumptions=_assumptions(programs),
        cautions=tuple(_cautions(columns, programs)),
        figures=(ratio_violins(programs, columns.marks, names, over), *figures),
        facts=facts,
        conclusion=tuple(sentences),
    )


def _check(columns: SetupColumns, values: Floats) -> None:
    if len(columns.variant.levels) != 2:
        raise AnalysisError(
            f"Bias is looked for between two variants; {columns.variant.name!r} has the levels "
            f"{', '.join(map(repr, columns.variant.levels[:6]))}.",
            field="--factors",
        )
    if not bool((values > 0).all()):
        raise AnalysisError(
            f"A ratio needs values above 0; the smallest is {values.min():g}.", field="--response"
        )


def _setups(parts: Sequence[Factor]) -> tuple[Integers, list[str]]:
    """The setup of each row, numbered from 0, and the names of the setups."""
    key = np.zeros(len(parts[0].codes), dtype=np.int64)
    for part in parts:
        key = key * len(part.levels) + part.codes
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    names = [
        ":".join(part.levels[int(part.codes[row])] for part in parts) for row in first.tolist()
    ]
    return place.reshape(-1).astype(np.int64), names


def _part_levels(parts: Sequence[Factor], setup: Integers) -> list[Factor]:
    """Each part with its level for every setup instead of every row."""
    first = np.zeros(int(setup.max()) + 1, dtype=np.int64)
    first[setup[::-1]] = np.arange(len(setup) - 1, -1, -1)
    return [Factor(part.name, part.levels, part.codes[first]) for part in parts]


def _programs(columns: SetupColumns, setup: Integers, values: Floats) -> list[SetupRatios]:
    variant, order = columns.variant.codes, columns.order
    rows = {"": np.arange(len(values))}
    if columns.program is not None:
        codes = columns.program.codes
        names = enumerate(columns.program.levels)
        rows = {name: np.flatnonzero(codes == code) for code, name in names}
    found = [
        setup_ratios(
            name, setup[own], variant[own], values[own], None if order is None else order[own]
        )
        for name, own in rows.items()
    ]
    kept = [ratios for ratios in found if ratios is not None]
    if not kept:
        raise AnalysisError("No setup has a value of both variants.", field="--option setup")
    return kept


def _suite(
    programs: Sequence[SetupRatios],
    setup_count: int,
    confidence: float,
    over: str,
    interval: Interval,
) -> tuple[list[Effect], list[Figure]]:
    """The mean over the suite in each setup that all programs share, and how it spreads; of one
    program its own ratios, with their `interval`."""
    if len(programs) == 1:
        ratios = programs[0].ratios
        return [], [ratio_histogram(ratios, f"Ratio over {len(ratios)} setups", over, interval)]
    whole = np.full((len(programs), setup_count), np.nan)
    for row, found in enumerate(programs):
        whole[row, found.setups] = found.ratios
    shared = np.isfinite(whole).all(axis=0)
    if int(shared.sum()) < 2:
        return [], []
    means = np.exp(np.log(whole[:, shared]).mean(axis=0))
    count = len(means)
    suite = SetupRatios("suite", np.arange(count), np.ones(count), means, means, None, 0.0)
    over_suite = ratio_over_setups(suite, (), confidence)
    effect = Effect(f"suite: {over}", over_suite, "geometric-mean-ratio")
    title = f"Mean ratio of {len(programs)} programs over {count} setups"
    return [effect], [ratio_histogram(means, title, over, over_suite)]


def _assumptions(programs: Sequence[SetupRatios]) -> tuple[Assumption, ...]:
    fewest = min(len(found.ratios) for found in programs)
    enough = fewest >= _FEW_SETUPS
    repeated = all(found.noise is not None for found in programs)
    return (
        Assumption(
            "enough setups",
            enough,
            None,
            "" if enough else f"What holds in {fewest} of them may not in others; draw more, at "
            "random.",
        ),
        Assumption(
            "noise told from setups",
            repeated,
            None,
            "" if repeated else "No trial was repeated within a setup: what varies between setups "
            "may be noise. Repeat each setup at least twice.",
        ),
        Assumption(
            "setups drawn at random", None, None, "The interval speaks of setups as those "
            "that were drawn; one that was never varied may still hide a bias.",
        ),
    )  # fmt: skip


def _cautions(columns: SetupColumns, programs: Sequence[SetupRatios]) -> list[Caution]:
    found: list[Caution] = []
    if columns.program is not None and len(programs) < len(columns.program.levels):
        names = {ratios.program for ratios in programs}
        gone = [name for name in columns.program.levels if name not in names]
        found.append(
            Caution(
                "missing-cells",
                f"{', '.join(map(repr, gone[:5]))}: no setup with both variants; left out.",
            )
        )
    if all(np.ptp(ratios.ratios) == 0 for ratios in programs):
        found.append(Caution("constant-response", "The ratio is the same in every setup."))
    return found
