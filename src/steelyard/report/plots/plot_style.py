"""What the plots share: colours, series on one scale, and text that stays text."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from steelyard.analysis.comparison.comparison_results import Answer, MetricResult
from steelyard.analysis.comparison.plot_series import (
    QuantilePoints,
    quantile_points,
    stride_for,
)
from steelyard.analysis.distributions.modes import density_bandwidth
from steelyard.report.kinds.comparison.tables import metric_scale
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# M. Okabe and K. Ito, Color Universal Design (2008), with two darker hues for more variants.
PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#B8860B",
    "#56B4E9",
    "#8C6BB1",
    "#6B7B8C",
)
VERDICT_COLORS = {
    "faster": "#1a8f4c",
    "slower": "#d1383d",
    "equivalent": "#2b7bba",
    "undecided": "#8a8f98",
}
# The same hues for a dark background, where the page is shown on one.
DARK_COLORS = {
    "#0072B2": "#4BA3E3",
    "#D55E00": "#F28A3C",
    "#009E73": "#2FC49A",
    "#CC79A7": "#E39AC3",
    "#B8860B": "#D9A93A",
    "#56B4E9": "#7CC6F0",
    "#8C6BB1": "#B095D6",
    "#6B7B8C": "#98A7B7",
    "#1a8f4c": "#58cf90",
    "#d1383d": "#ff8082",
    "#2b7bba": "#78bbff",
}
POINTS_LIMIT = 1000
LABEL_LIMIT = 28
TABLE_LIMIT = 200
# Along a violin, so that its narrowest hump is drawn.
DENSITY_POINTS = 400
_SHOWN_DIGITS = 7


class ShownValues(Sequence[float]):
    """Values in another unit, each made when it is looked at."""

    def __init__(self, values: Sequence[float], factor: float) -> None:
        self._values = values
        self._factor = factor

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> ShownValues: ...
    def __getitem__(self, place: int | slice) -> float | ShownValues:
        if isinstance(place, slice):
            return ShownValues(self._values[place], self._factor)
        return rounded((self._values[place],), self._factor)[0]

    def __iter__(self) -> Iterator[float]:
        return iter(rounded(self._values, self._factor))


class Series(NamedTuple):
    """The values of one variant in the unit in which they are shown."""

    label: str
    color: str
    result: MetricResult
    factor: float

    @property
    def values(self) -> ShownValues:
        """Rounded when they are looked at, for most of many are not drawn."""
        return ShownValues(self.result.values, self.factor)

    @property
    def blocks(self) -> Sequence[int]:
        """The block of each."""
        return self.result.blocks

    def quantiles(self, limit: int) -> QuantilePoints:
        """The points of a normal Q-Q plot."""
        found = quantile_points(self.result.values, limit)
        return replace(
            found,
            observed=tuple(rounded(found.observed, self.factor)),
            intercept=found.intercept / self.factor,
            slope=found.slope / self.factor,
        )

    @property
    def text(self) -> str:
        """The label for plotly, which reads a kind of HTML."""
        return as_plotly_text(self.label)


def as_plotly_text(text: str) -> str:
    """`text` that plotly shows as it is: neither HTML nor, between dollars, mathematics."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def as_matplotlib_text(text: str) -> str:
    """`text` that matplotlib shows as it is, without taking ``$`` for mathematics."""
    return text.replace("$", r"\$")


def plot_labels(answer: Answer) -> dict[str, str]:
    """Short labels of the variants, for axes."""
    return labels((variant.name for variant in answer.variants), LABEL_LIMIT)


def series_of(answer: Answer, at_least: int = 1) -> list[Series]:
    """The variants with at least so many values of the answer's metric."""
    scale, names = metric_scale(answer, answer.metric), plot_labels(answer)
    found: list[Series] = []
    for index, variant in enumerate(answer.variants):
        result = variant.metrics.get(answer.metric.name)
        if result is None or result.summary is None or len(result.values) < at_least:
            continue
        found.append(
            Series(
                names[variant.name],
                PALETTE[index % len(PALETTE)],
                result,
                scale.factor,
            )
        )
    return found


def rounded(values: Sequence[float], factor: float = 1.0) -> list[float]:
    """Values in another unit, with no more digits than a plot can show."""
    return [float(f"{value / factor:.{_SHOWN_DIGITS}g}") for value in values]


def capped(values: Sequence[float]) -> list[float]:
    """At most as many values as a plot stays usable with, by a fixed stride."""
    return list(values[:: stride_for(len(values), POINTS_LIMIT)])


def relative_bandwidth(values: Sequence[float]) -> float | None:
    """The bandwidth by which modes stay apart, in standard deviations, as matplotlib takes it."""
    found = density_bandwidth(values)
    if found is None:
        return None
    from statistics import stdev

    return found / stdev(values)


def thinning_note(answer: Answer) -> str:
    """Which share of the values is drawn, or nothing where all are."""
    most = max((len(series.values) for series in series_of(answer)), default=0)
    stride = stride_for(most, POINTS_LIMIT)
    if stride == 1:
        return ""
    return (
        f"Of {most} values a variant, every {stride}th is drawn; "
        "tables and estimates are from all of them."
    )


def metric_title(answer: Answer) -> str:
    """The metric with its unit, for an axis."""
    scale = metric_scale(answer, answer.metric)
    name = one_line(answer.metric.name)
    return f"{name} [{scale.unit}]" if scale.unit else name


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis of a figure for the page."""
    return {
        "title": {"text": as_plotly_text(title), "standoff": 8},
        "automargin": True,
        "zeroline": False,
        **more,
    }


def layout(height: int, x: dict[str, Any], y: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The layout of a figure for the page, `height` pixels high; its colours come from there."""
    return {
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 8, "b": 40},
        "showlegend": False,
        "xaxis": x,
        "yaxis": y,
        "hovermode": "closest",
        **more,
    }


def rows_axis(names: Sequence[str], spread: float = 0.6) -> dict[str, Any]:
    """A vertical axis with one row a name, the first at the top."""
    return axis(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[_in_two_lines(name) for name in names],
        range=[len(names) - 1 + spread, -spread],
        showgrid=False,
    )


def grid(figure: Figure, count: int, columns: int = 3) -> list[Axes]:
    """A grid of `count` drawings; the figure grows with its rows."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure.set_size_inches(max(4.2, 3.2 * columns), 2.9 * rows)
    made = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in made[count:]:
        spare.set_visible(False)
    return list(made[:count])


def _in_two_lines(name: str) -> str:
    """A name that leaves room for the plot on a narrow screen."""
    if len(name) <= LABEL_LIMIT // 2:
        return as_plotly_text(name)
    space = name.rfind(" ", 0, LABEL_LIMIT // 2 + 1)
    at = space + 1 if space >= LABEL_LIMIT // 4 else LABEL_LIMIT // 2
    return f"{as_plotly_text(name[:at])}<br>{as_plotly_text(name[at:])}"


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a drawing, the first at the top."""
    axes.set_yticks(range(len(names)), [as_matplotlib_text(name) for name in names])
    axes.grid(visible=False, axis="y")
