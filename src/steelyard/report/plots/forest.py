"""The ratios of all comparisons with their intervals, beside the line of no difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.comparison_results import Answer, Comparison, GeometricMean
from steelyard.core.estimate import Estimate
from steelyard.report.kinds.comparison.sentences import change_word, verdict_sentence, verdict_word
from steelyard.report.plots import Panel, Plot
from steelyard.report.plots.plot_style import (
    VERDICT_COLORS,
    as_matplotlib_text,
    as_plotly_text,
    axis,
    layout,
    name_rows,
    plot_labels,
    rounded,
    rows_axis,
)
from steelyard.report.texts.readable import one_line, ratio_text
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SYMBOLS = {
    "faster": ("triangle-left", "<"),
    "slower": ("triangle-right", ">"),
    "equivalent": ("square", "s"),
    "undecided": ("circle-open", "o"),
}
_ROW_PIXELS = 46
_MOST_SAID = 8


def _by_metric(answer: Answer) -> dict[str, list[tuple[Comparison, Estimate]]]:
    """The bounded comparisons of each metric, the answer's own metric first; below those the
    geometric means over all groups."""
    found: dict[str, list[tuple[Comparison, Estimate]]] = {answer.metric.name: []}
    for comparison in answer.comparisons:
        if isinstance(comparison.ratio, Estimate):
            rows = found.setdefault(comparison.metric.name, [])
            rows.append((comparison, comparison.ratio))
    for mean in answer.geometric_means:
        if isinstance(mean.ratio, Estimate):
            found[answer.metric.name].append((_as_comparison(mean), mean.ratio))
    return {name: rows for name, rows in found.items() if rows}


def _as_comparison(mean: GeometricMean) -> Comparison:
    """A geometric mean as a row among comparisons."""
    return Comparison(
        baseline=mean.baseline,
        candidate=f"geometric mean of {mean.group_count}: {mean.candidate}",
        metric=mean.metric,
        ratio=mean.ratio,
        verdict=mean.verdict,
        sign="unclear",
        margin_ratio=mean.margin_ratio,
        simultaneous=False,
        further_blocks=None,
        further_s=None,
    )


def _label(name: str, names: Mapping[str, str]) -> str:
    return names.get(name) or one_line(name)


def _row_name(comparison: Comparison, names: Mapping[str, str], several: bool) -> str:
    candidate, baseline = _label(comparison.candidate, names), _label(comparison.baseline, names)
    return f"{candidate} / {baseline}" if several else candidate


def _row_names(answer: Answer, rows: list[tuple[Comparison, Estimate]]) -> list[str]:
    names = plot_labels(answer)
    several = len({comparison.baseline for comparison, _ in rows}) > 1
    return [_row_name(comparison, names, several) for comparison, _ in rows]


def axis_title(answer: Answer, rows: list[tuple[Comparison, Estimate]]) -> str:
    """What the horizontal axis shows, with the side on which a candidate is better."""
    first = rows[0][0]
    baselines = {comparison.baseline for comparison, _ in rows}
    against = _label(first.baseline, plot_labels(answer)) if len(baselines) == 1 else "its baseline"
    low, high = change_word(first.metric, 0.5), change_word(first.metric, 2.0)
    return f"ratio to {against}   (← {low} | {high} →)"


def _shapes(margin_ratio: float) -> list[dict[str, Any]]:
    common = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    band = {
        **common,
        "type": "rect",
        "x0": 1 - margin_ratio,
        "x1": 1 + margin_ratio,
        "line": {"width": 0},
        "fillcolor": "rgba(43,123,186,0.14)",
    }
    line = {**common, "type": "line", "x0": 1, "x1": 1, "line": {"width": 1.5, "color": "#8a8f98"}}
    return [band, line]


def _beside(ratio: Estimate, low: float, high: float) -> str:
    """Where the text of a mark goes so that it stays on the plot."""
    place = (ratio.estimate - low) / (high - low)
    return "top left" if place > 0.7 else "top right" if place < 0.3 else "top center"


def _sentence(comparison: Comparison, names: Mapping[str, str]) -> str:
    own = {name: _label(name, names) for name in (comparison.candidate, comparison.baseline)}
    return verdict_sentence(comparison, own)


def _hover(comparison: Comparison, ratio: Estimate, names: Mapping[str, str]) -> str:
    label = _label(comparison.candidate, names)
    return f"{label}: {ratio_text(ratio)}, {verdict_word(comparison)}"


def _description(rows: list[tuple[Comparison, Estimate]], names: Mapping[str, str]) -> str:
    """The verdicts in words; of many, how many there are of each, for the table has them all."""
    if len(rows) <= _MOST_SAID:
        return "; ".join(_sentence(comparison, names) for comparison, _ in rows)
    counted = Counter(verdict_word(comparison) for comparison, _ in rows)
    told = ", ".join(f"{count} {word}" for word, count in counted.most_common())
    return f"{len(rows)} ratios: {told}; the table below has them"


Row = tuple[int, Comparison, Estimate]


def _traces(
    rows: list[tuple[Comparison, Estimate]], names: Mapping[str, str], reach: tuple[float, float]
) -> list[dict[str, Any]]:
    """The marks of each verdict, which share colour and symbol."""
    found: dict[str, list[Row]] = {}
    for row, (comparison, ratio) in enumerate(rows):
        found.setdefault(comparison.verdict, []).append((row, comparison, ratio))
    return [_marks(verdict, marked, names, reach) for verdict, marked in found.items()]


def _marks(
    verdict: str, rows: list[Row], names: Mapping[str, str], reach: tuple[float, float]
) -> dict[str, Any]:
    color = VERDICT_COLORS[verdict]
    hover = [as_plotly_text(_hover(comparison, ratio, names)) for _, comparison, ratio in rows]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": rounded([ratio.estimate for *_, ratio in rows]),
        "y": [row for row, *_ in rows],
        "text": [ratio_text(ratio) for *_, ratio in rows],
        "textposition": [_beside(ratio, *reach) for *_, ratio in rows],
        "cliponaxis": False,
        "hovertext": hover,
        "hoverinfo": "text",
        "marker": {
            "color": color,
            "size": 12,
            "symbol": _SYMBOLS[verdict][0],
            "line": {"width": 2, "color": color},
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": rounded([ratio.high - ratio.estimate for *_, ratio in rows]),
            "arrayminus": rounded([ratio.estimate - ratio.low for *_, ratio in rows]),
            "color": color,
            "thickness": 2.5,
            "width": 6,
        },
    }


def panels(answer: Answer) -> list[Panel]:
    """One figure for each metric that was compared."""
    names = plot_labels(answer)
    made: list[Panel] = []
    for metric, rows in _by_metric(answer).items():
        low, high = _range(rows)
        data = _traces(rows, names, (low, high))
        made.append(
            Panel(
                one_line(metric),
                data,
                layout(
                    80 + _ROW_PIXELS * len(rows),
                    axis(axis_title(answer, rows), range=[low, high]),
                    rows_axis(_row_names(answer, rows), 0.7),
                    shapes=_shapes(rows[0][0].margin_ratio),
                ),
                _description(rows, names),
            )
        )
    return made


def _range(rows: list[tuple[Comparison, Estimate]]) -> tuple[float, float]:
    """The axis from the lowest to the highest bound, with 1 and the margin always in sight."""
    margin = rows[0][0].margin_ratio
    low = min(1 - margin, *(ratio.low for _, ratio in rows))
    high = max(1 + margin, *(ratio.high for _, ratio in rows))
    room = 0.12 * (high - low)
    return low - room, high + room


def draw(answer: Answer, figure: Figure) -> None:
    """Draw the forest of the first metric that has one."""
    rows = next(iter(_by_metric(answer).values()))
    figure.set_size_inches(7.2, 1.25 + 0.5 * len(rows))
    _draw_rows(figure.subplots(), answer, rows)


def _draw_rows(axes: Axes, answer: Answer, rows: list[tuple[Comparison, Estimate]]) -> None:
    margin = rows[0][0].margin_ratio
    axes.axvspan(1 - margin, 1 + margin, color="#2b7bba", alpha=0.14, linewidth=0)
    axes.axvline(1, color="#8a8f98", linewidth=1.2)
    for row, (comparison, ratio) in enumerate(rows):
        color = VERDICT_COLORS[comparison.verdict]
        hollow = comparison.verdict == "undecided"
        axes.errorbar(
            [ratio.estimate],
            [row],
            xerr=[[ratio.estimate - ratio.low], [ratio.high - ratio.estimate]],
            fmt=_SYMBOLS[comparison.verdict][1],
            color=color,
            markerfacecolor="white" if hollow else color,
            markersize=7,
            capsize=3,
            linewidth=1.8,
        )
        axes.annotate(
            ratio_text(ratio),
            (ratio.estimate, row),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.6},
        )
    name_rows(axes, _row_names(answer, rows))
    axes.set_ylim(len(rows) - 0.5, -0.7)
    axes.set_xlim(*_range(rows))
    axes.set_title(as_matplotlib_text(one_line(rows[0][0].metric.name)))
    axes.set_xlabel(as_matplotlib_text(axis_title(answer, rows)))


def table(answer: Answer) -> Table | None:
    """The ratios, also those that cannot be bounded."""
    if not answer.comparisons:
        return None
    names = plot_labels(answer)
    rows = tuple(
        (
            one_line(c.metric.name),
            names[c.candidate],
            names[c.baseline],
            ratio_text(c.ratio) if isinstance(c.ratio, Estimate) else "no bounds",
            verdict_word(c),
        )
        for c in answer.comparisons
    )
    headers = ("metric", "candidate", "baseline", "ratio", "verdict")
    return Table(headers, rows, frozenset({0, 1, 2, 4}))


EXTENSION = Plot(
    name="forest",
    title="How far apart are they?",
    caption=(
        "Each mark is a ratio of means and each bar the range in which it lies with the stated "
        "confidence. A bar that touches the line at 1 leaves open who is faster; one that stays "
        "inside the band is equivalent."
    ),
    order=1,
    panels=panels,
    draw=draw,
    table=table,
)
