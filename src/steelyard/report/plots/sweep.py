"""The mean over a parameter that was swept, with its interval as a band."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.comparison.comparison_results import Answer, VariantResult
from steelyard.core.estimate import Estimate
from steelyard.report.kinds.comparison.tables import mean_text, metric_scale, percent_text
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.plot_style import (
    PALETTE,
    as_matplotlib_text,
    as_plotly_text,
    axis,
    layout,
    metric_title,
)
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST_PLACES = 2
_HEIGHT_PIXELS = 340
# From this ratio of the largest to the smallest value on, the axis is logarithmic.
_LOGARITHMIC = 50.0
# More marks of an axis would lie on each other on a narrow page.
_MOST_TICKS = 7


class _Place(NamedTuple):
    """One value of the parameter: its mean with bounds, in the unit that is shown."""

    value: float
    mean: float
    low: float
    high: float
    variant: VariantResult


class _Sweep(NamedTuple):
    """A parameter and, for each program, its places in order."""

    parameter: str
    lines: dict[str, list[_Place]]

    @property
    def is_logarithmic(self) -> bool:
        """Whether the values lie so far apart that only a logarithmic axis shows all."""
        values = [place.value for line in self.lines.values() for place in line]
        return min(values) > 0 and max(values) >= _LOGARITHMIC * min(values)


def _swept(answer: Answer) -> str | None:
    """The only parameter that takes several values; None where that is none, or not of numbers."""
    taken: dict[str, set[str]] = defaultdict(set)
    for variant in answer.variants:
        for name, value in variant.parameters:
            taken[name].add(value)
    changing = [name for name, values in taken.items() if len(values) >= _FEWEST_PLACES]
    if len(changing) != 1 or not all(changing[0] in dict(v.parameters) for v in answer.variants):
        return None
    return changing[0] if all(_number(v) is not None for v in taken[changing[0]]) else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _sweep(answer: Answer) -> _Sweep | None:
    parameter = _swept(answer)
    if parameter is None:
        return None
    factor = metric_scale(answer, answer.metric).factor
    lines: dict[str, list[_Place]] = defaultdict(list)
    for variant in answer.variants:
        result = variant.metrics.get(answer.metric.name)
        summary = result and result.summary
        value = _number(dict(variant.parameters)[parameter])
        if summary is None or summary.mean.estimate is None or value is None:
            continue
        mean = summary.mean.estimate / factor
        bounds = (mean, mean)
        if isinstance(summary.mean, Estimate):
            bounds = (summary.mean.low / factor, summary.mean.high / factor)
        text = dict(variant.parameters)[parameter]
        lines[_program(variant.name, parameter, text)].append(_Place(value, mean, *bounds, variant))
    if all(len(line) < _FEWEST_PLACES for line in lines.values()):
        return None
    for line in lines.values():
        line.sort(key=lambda place: place.value)
    return _Sweep(parameter, dict(lines))


def _program(name: str, parameter: str, value: str) -> str:
    """What the points of one line are called alike: the command as it was typed."""
    before = name.rpartition(" (")[0] or name
    words = [f"{{{parameter}}}" if word == value else word for word in before.split(" ")]
    return " ".join(words).replace(f"-{value}", f"-{{{parameter}}}")


def panels(answer: Answer) -> list[Panel]:
    """One figure with a line and a band for each program."""
    found = _sweep(answer)
    if found is None:
        return []
    data: list[dict[str, Any]] = []
    names = labels(found.lines)
    for index, (name, line) in enumerate(found.lines.items()):
        data += _traces(names[name], PALETTE[index % len(PALETTE)], line)
    x = axis(one_line(found.parameter), **_ticks(found))
    figure = layout(_HEIGHT_PIXELS, x, axis(metric_title(answer), rangemode="tozero"))
    figure["showlegend"] = len(found.lines) > 1
    figure["legend"] = {"orientation": "h", "y": 1.12}
    figure["margin"] = {"l": 8, "r": 16, "t": 24, "b": 40}
    return [Panel("", data, figure, f"{metric_title(answer)} over {one_line(found.parameter)}")]


def _ticks(found: _Sweep) -> dict[str, Any]:
    """A logarithmic axis is marked where it was measured, if that is not at too many places."""
    if not found.is_logarithmic:
        return {}
    values = sorted({place.value for line in found.lines.values() for place in line})
    if len(values) > _MOST_TICKS:
        return {"type": "log", "dtick": 1}
    return {"type": "log", "tickvals": values, "ticktext": [f"{value:g}" for value in values]}


def _traces(name: str, color: str, line: list[_Place]) -> list[dict[str, Any]]:
    values = [place.value for place in line]
    text = as_plotly_text(name)
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": [*values, *reversed(values)],
        "y": [*(place.high for place in line), *(place.low for place in reversed(line))],
        "fill": "toself",
        "fillcolor": color,
        "line": {"width": 0, "color": color},
        "opacity": 0.25,
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": text,
    }
    means = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": text,
        "legendgroup": text,
        "x": values,
        "y": [place.mean for place in line],
        "line": {"color": color, "width": 2},
        "marker": {"color": color, "size": 7},
        "hoverinfo": "text",
        "hovertext": [
            f"{place.value:g}: {place.mean:.4g} [{place.low:.4g}, {place.high:.4g}]"
            for place in line
        ],
    }
    return [band, means]


def draw(answer: Answer, figure: Figure) -> None:
    """The same with matplotlib."""
    found = _sweep(answer)
    assert found is not None
    figure.set_size_inches(7.2, 3.8)
    axes = figure.subplots()
    names = labels(found.lines)
    for index, (name, line) in enumerate(found.lines.items()):
        color = PALETTE[index % len(PALETTE)]
        values = [place.value for place in line]
        low, high = [place.low for place in line], [place.high for place in line]
        axes.fill_between(values, low, high, color=color, alpha=0.25, linewidth=0)
        means = [place.mean for place in line]
        axes.plot(
            values, means, color=color, marker="o", markersize=4,
            label=as_matplotlib_text(names[name]),
        )  # fmt: skip
    if found.is_logarithmic:
        axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(as_matplotlib_text(one_line(found.parameter)))
    axes.set_ylabel(as_matplotlib_text(metric_title(answer)))
    if len(found.lines) > 1:
        axes.legend(frameon=False)


def table(answer: Answer) -> Table | None:
    """A row for each value of the parameter, and program."""
    found = _sweep(answer)
    if found is None:
        return None
    scale = metric_scale(answer, answer.metric)
    names = labels(found.lines)
    rows: list[tuple[str, ...]] = []
    for name, line in found.lines.items():
        for place in line:
            summary = place.variant.metrics[answer.metric.name].summary
            assert summary is not None
            mean, spread = mean_text(summary.mean, scale), percent_text(summary.variation)
            rows.append((names[name], f"{place.value:g}", mean, spread, str(summary.count)))
    headers = (
        "program",
        one_line(found.parameter),
        f"mean {scale.label(answer.metric)}",
        "CoV",
        "n",
    )
    made = Table(headers, tuple(rows))
    return made if len(found.lines) > 1 else made.without(0)


EXTENSION = Plot(
    name="sweep",
    title="How does it change with the parameter?",
    caption=(
        "Each mark is a mean at one value of the parameter; the band holds its interval. Between "
        "the marks nothing was measured: the lines only lead the eye."
    ),
    order=0,
    panels=panels,
    draw=draw,
    table=table,
)
