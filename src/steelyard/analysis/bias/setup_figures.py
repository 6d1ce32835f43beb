"""Pictures of ratios over setups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.bias.setup_ratios import SetupRatios
from steelyard.analysis.tables.figure_values import HistogramFigure, MarkedViolin, ViolinFigure
from steelyard.core.estimate import Estimate, Interval

Floats = NDArray[np.float64]

_MOST_VIOLINS = 40
_MOST_BINS = 30


def ratio_histogram(values: Floats, title: str, over: str, interval: Interval) -> HistogramFigure:
    """Ratios as bars, with 1 and the interval of their mean."""
    bins = min(_MOST_BINS, max(5, int(np.ceil(2 * len(values) ** (1 / 3)))))
    counts, edges = np.histogram(values, bins=bins)
    band = (interval.low, interval.high) if isinstance(interval, Estimate) else None
    return HistogramFigure(
        title, f"ratio {over}", tuple(edges.tolist()), tuple(counts.tolist()), line=1.0, band=band
    )


def ratio_violins(
    programs: Sequence[SetupRatios], marks: Sequence[str], names: Sequence[str], over: str
) -> ViolinFigure:
    """The ratios of each program, with the mean of those setups that have a mark in their name.

    Parameters
    ----------
    programs : sequence of SetupRatios
        The first forty are shown.
    marks, names : sequence of str
        Levels to be marked, and the names of all setups, levels apart by colons.
    over : str
        What the ratios are of.
    """
    marked = {
        mark: np.array([mark in (name, *name.split(":")) for name in names]) for mark in marks
    }
    violins = tuple(
        MarkedViolin(
            found.program or over,
            tuple(found.ratios.tolist()),
            tuple(
                (mark, float(np.exp(np.log(found.ratios[there[found.setups]]).mean())))
                for mark, there in marked.items()
                if there[found.setups].any()
            ),
        )
        for found in programs[:_MOST_VIOLINS]
    )
    return ViolinFigure("The ratio over setups", f"ratio {over}", violins, line=1.0)
