"""What main effects and interactions have to draw."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.figure_values import (
    InteractionFigure,
    MainEffectsFigure,
    MeansLine,
    MeansPanel,
)
from steelyard.analysis.tables.table_analysis import LevelMean
from steelyard.core.estimate import Estimate

# More panels, levels or lines than that nobody reads off a picture; the JSON has all.
_MOST_FACTORS, _MOST_PAIRS = 16, 6
_MOST_LEVELS, _MOST_LINES = 40, 8


def means_figures(
    means: Sequence[LevelMean], factors: Sequence[Factor], response: str, unit: str
) -> tuple[MainEffectsFigure | InteractionFigure, ...]:
    """The means by level as figures: of single factors, and of pairs where there are any.

    Parameters
    ----------
    means : sequence of LevelMean
        Pairs in the order in which they are to be shown.
    factors : sequence of Factor
    response, unit : str
    """
    axis = f"{response} [{unit}]" if unit else response
    by_term: dict[str, list[LevelMean]] = {}
    for mean in means:
        by_term.setdefault(mean.term, []).append(mean)
    levels = {factor.name: factor.levels for factor in factors}
    varied = [name for name, own in levels.items() if 1 < len(own) <= _MOST_LEVELS]
    panels = [
        MeansPanel(name, levels[name], (_line("", by_term[name]),))
        for name in varied[:_MOST_FACTORS]
    ]
    crossed = [
        _pair_panel((first, second), levels[first], levels[second], by_term[term])
        for term in by_term
        for first in varied
        for second in varied
        if term == f"{first}:{second}" and term not in levels
    ]
    shown = [panel for panel in crossed if len(panel.lines) <= _MOST_LINES][:_MOST_PAIRS]
    found: list[MainEffectsFigure | InteractionFigure] = []
    if panels:
        found.append(MainEffectsFigure(axis, tuple(panels)))
    if shown:
        found.append(InteractionFigure(axis, tuple(shown)))
    return tuple(found)


def _pair_panel(
    names: tuple[str, str],
    first: Sequence[str],
    second: Sequence[str],
    means: Sequence[LevelMean],
) -> MeansPanel:
    """The factor with more levels on the axis, a line for each level of the other."""
    by_levels = {mean.levels: mean for mean in means}
    if len(first) >= len(second):
        lines = [_line(b, [by_levels[(a, b)] for a in first]) for b in second]
        return MeansPanel(names[0], tuple(first), tuple(lines), names[1])
    lines = [_line(a, [by_levels[(a, b)] for b in second]) for a in first]
    return MeansPanel(names[1], tuple(second), tuple(lines), names[0])


def _line(name: str, means: Sequence[LevelMean]) -> MeansLine:
    bounds = [mean.mean if isinstance(mean.mean, Estimate) else None for mean in means]
    return MeansLine(
        name,
        tuple(mean.mean.estimate for mean in means),
        tuple(None if bound is None else bound.low for bound in bounds),
        tuple(None if bound is None else bound.high for bound in bounds),
    )
