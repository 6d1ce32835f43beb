"""The levels of an initial experiment that were repeated, with what a repetition of them costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.analysis.variance.variance_components import LevelVariance
from steelyard.core.estimate import Estimate


@dataclass(frozen=True)
class RepeatedLevel:
    """A repeated level. Those right below it that were not come with each of its repetitions,
    so that `cost_s` holds theirs too."""

    found: LevelVariance
    variance: float
    cost_s: float | None


def repeated_levels(
    levels: Sequence[LevelVariance], costs_s: Mapping[str, float]
) -> list[RepeatedLevel]:
    """The repeated ones of `levels`, highest first; costs that are not known are None."""
    found: list[RepeatedLevel] = []
    for level in levels:
        cost_s = costs_s.get(level.level)
        if isinstance(level.variance, Estimate):
            found.append(RepeatedLevel(level, level.variance.estimate, cost_s))
        elif found:
            above = found[-1]
            both = None if above.cost_s is None or cost_s is None else above.cost_s + cost_s
            found[-1] = RepeatedLevel(above.found, above.variance, both)
    return found
