"""What an analysis has to draw, as numbers: the report turns it into pictures."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.facets.facet_figure import FacetFigure


@dataclass(frozen=True)
class ResidualFigure:
    """Residuals against fitted values, and against the quantiles of a normal sample.

    All of one length: `scores[i]` belongs to the i-th smallest residual.
    """

    fitted: tuple[float, ...]
    residuals: tuple[float, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class QuantileFigure:
    """Effects across quantiles: a panel a term, with the band of their intervals.

    `low` and `high` are None where an interval has no bound.
    """

    terms: tuple[str, ...]
    quantiles: tuple[float, ...]
    estimates: tuple[tuple[float, ...], ...]
    low: tuple[tuple[float | None, ...], ...]
    high: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class MarkedViolin:
    """A distribution with some of its values marked by name."""

    label: str
    values: tuple[float, ...]
    marks: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class ViolinFigure:
    """Violins beside each other, and a line at a value that splits them."""

    title: str
    axis: str
    violins: tuple[MarkedViolin, ...]
    line: float | None = None


@dataclass(frozen=True)
class HistogramFigure:
    """How often values fall into each bin; `edges` has one more entry than `counts`."""

    title: str
    axis: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    line: float | None = None
    band: tuple[float, float] | None = None


@dataclass(frozen=True)
class MapFigure:
    """A value over a grid of two parameters; ``values[row][column]`` is None where none was
    measured."""

    x_name: str
    y_name: str
    value_name: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class LevelsFigure:
    """Means of levels, a line for each arm: its name, the means, and their half-widths."""

    title: str
    x_axis: str
    y_axis: str
    levels: tuple[str, ...]
    arms: tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...]


@dataclass(frozen=True)
class MeansLine:
    """Means of the levels on the axis, with their bounds where there are any."""

    name: str
    means: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True)
class MeansPanel:
    """The levels of a factor on the axis; a line, or one for each level of another factor."""

    x_axis: str
    levels: tuple[str, ...]
    lines: tuple[MeansLine, ...]
    line_factor: str = ""


@dataclass(frozen=True)
class MainEffectsFigure:
    """Means by level, a panel a factor, all on one scale."""

    y_axis: str
    panels: tuple[MeansPanel, ...]


@dataclass(frozen=True)
class InteractionFigure:
    """Means by the levels of two factors, a panel a pair, all on one scale."""

    y_axis: str
    panels: tuple[MeansPanel, ...]


@dataclass(frozen=True)
class ScatterPanel:
    """Points of two variables, of one length."""

    title: str
    x_axis: str
    y_axis: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class ScatterFigure:
    """Panels of points beside each other."""

    panels: tuple[ScatterPanel, ...]


Figure = (
    FacetFigure
    | LevelsFigure
    | MainEffectsFigure
    | InteractionFigure
    | ScatterFigure
    | ResidualFigure
    | QuantileFigure
    | ViolinFigure
    | HistogramFigure
    | MapFigure
)
