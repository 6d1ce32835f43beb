"""A response over two layout parameters: where it is fast, where slow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.groups.location_tests import eta_squared, kruskal_wallis, one_way
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.figure_values import MapFigure
from steelyard.analysis.tables.table_analysis import Analysis, Effect, Test
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "map"


def sensitivity_map(
    x: Factor, y: Factor, response: str, unit: str, values: Floats, confidence: float
) -> Analysis:
    """The mean response at every combination of two parameters.

    Notes
    -----
    Mytkowicz (2010), figure 1.1. The share of the variance that each parameter, and both
    together, explain says whether a stripe or a diagonal in the picture is more than noise.
    """
    width = len(x.levels)
    key = y.codes * width + x.codes
    size = width * len(y.levels)
    counts = np.bincount(key, minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(key, values, minlength=size) / counts
    cell = Factor(f"{x.name}:{y.name}", (), np.unique(key, return_inverse=True)[1].reshape(-1))
    effects: list[Effect] = []
    tests: list[Test] = []
    for factor in (x, y, cell):
        test = one_way(values, factor.codes)
        if test is None:
            continue
        share = eta_squared(test, confidence)
        effects.append(Effect(factor.name, share, "share-of-variance", p=test.p))
        ranks = kruskal_wallis(values, factor.codes)
        tests += [
            Test(f"{found.name}: {factor.name}", found.statistic, found.degrees, found.p)
            for found in (test, ranks)
            if found is not None
        ]
    known = np.flatnonzero(counts)
    fastest, slowest = (int(known[place(means[known])]) for place in (np.argmin, np.argmax))
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=tuple(effects),
        tests=tuple(tests),
        cautions=tuple(_cautions(size, len(known), counts)),
        figures=(_figure(x, y, response, unit, means),),
        facts={
            "lowest": float(means[fastest]),
            "lowest_at": _place(x, y, fastest),
            "highest": float(means[slowest]),
            "highest_at": _place(x, y, slowest),
        },
        conclusion=(
            f"From {_place(x, y, fastest)} to {_place(x, y, slowest)} {response} changes by a "
            f"factor of {means[slowest] / means[fastest]:.3f}.",
        )
        if means[fastest] > 0
        else (),
    )


def _place(x: Factor, y: Factor, key: int) -> str:
    row, column = divmod(key, len(x.levels))
    return f"{x.name}={x.levels[column]}, {y.name}={y.levels[row]}"


def _figure(x: Factor, y: Factor, response: str, unit: str, means: Floats) -> MapFigure:
    rows = means.reshape(len(y.levels), len(x.levels))
    values = tuple(
        tuple(None if np.isnan(cell) else float(cell) for cell in row.tolist()) for row in rows
    )
    name = f"{response} [{unit}]" if unit else response
    return MapFigure(x.name, y.name, name, x.levels, y.levels, values)


def _cautions(size: int, known: int, counts: NDArray[np.int64]) -> list[Caution]:
    found: list[Caution] = []
    if known < size:
        found.append(
            Caution("missing-cells", f"{size - known} of {size} combinations have no row: blank.")
        )
    if int(counts.max()) < 2:
        found.append(
            Caution(
                "one-replicate",
                "No combination was measured twice: noise and place cannot be told apart cell by "
                "cell.",
            )
        )
    return found
