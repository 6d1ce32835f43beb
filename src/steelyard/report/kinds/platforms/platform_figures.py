"""The figures of predictions across hosts, for plotly (Oliveira 2015, figures 7.5 to 7.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.core.estimate import Estimate
from steelyard.predict.correlation_clusters import lay_out_tree
from steelyard.predict.platforms.model_evaluation import PlatformEvaluation
from steelyard.predict.platforms.platform_answers import PlatformAnswer
from steelyard.predict.platforms.scores import Score, error_box
from steelyard.report.plots.plot_style import PALETTE, as_plotly_text, axis, layout, rows_axis

_GREY = "#6B7B8C"
_LEGEND = {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
_ROW = 26
# Errors below this are drawn at it: a logarithmic axis has no 0.
_LEAST_ERROR = 1e-4
_MOST_CURVES = 4
_SHOWN = 34


def _rows(count: int) -> int:
    return 90 + _ROW * count


def short(name: str) -> str:
    """A name that leaves room for the plot."""
    return name if len(name) <= _SHOWN else f"{name[: _SHOWN // 2]}…{name[-_SHOWN // 2 + 1 :]}"


def _names_axis(names: Sequence[str]) -> dict[str, Any]:
    return rows_axis([short(name) for name in names])


def with_legend(figure: dict[str, Any], lines: int = 1) -> dict[str, Any]:
    """A layout with its legend above the plot."""
    margin = {**figure["margin"], "t": 24 + 20 * lines}
    return {**figure, **_LEGEND, "margin": margin, "height": figure["height"] + 20 * lines}


def answer_figure(answer: PlatformAnswer, unit: str) -> dict[str, Any]:
    """Predictions with intervals beside what was measured, a row a host."""
    names = [host.host for host in answer.hosts]
    data: list[dict[str, Any]] = []
    for refused, label, color in ((False, "predicted", PALETTE[0]), (True, "refused", _GREY)):
        rows = [
            (row, host.value)
            for row, host in enumerate(answer.hosts)
            if host.refused is refused and isinstance(host.value, Estimate)
        ]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label,
                "x": [value.estimate for _, value in rows],
                "y": [row for row, _ in rows],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [value.high - value.estimate for _, value in rows],
                    "arrayminus": [value.estimate - value.low for _, value in rows],
                    "color": color,
                },
                "marker": {"color": color, "size": 8},
                "text": [as_plotly_text(names[row]) for row, _ in rows],
                "hovertemplate": "%{text}<br>%{x:.4g}<extra>" + label + "</extra>",
            }
        )
    measured = [(row, h.measured) for row, h in enumerate(answer.hosts) if h.measured is not None]
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "measured",
            "x": [value for _, value in measured],
            "y": [row for row, _ in measured],
            "marker": {"symbol": "line-ns-open", "color": PALETTE[1], "size": 14},
            "text": [as_plotly_text(names[row]) for row, _ in measured],
            "hovertemplate": "%{text}<br>%{x:.4g}<extra>measured</extra>",
        }
    )
    title = f"{answer.asked.application} [{unit}]" if unit else answer.asked.application
    x = axis(title, type="log")
    return {"data": data, "layout": with_legend(layout(_rows(len(names)), x, _names_axis(names)))}


def boxes_figure(found: PlatformEvaluation) -> dict[str, Any]:
    """Errors of each strategy by known hosts: quartiles, 5 to 95 %, worst (figures 7.6, 7.7)."""
    counts = list(dict.fromkeys(one.known_hosts for one in found.evaluated))
    names = list(dict.fromkeys(one.model.name for one in found.evaluated))
    data: list[dict[str, Any]] = []
    for place, count in enumerate(counts):
        color = PALETTE[place % len(PALETTE)]
        boxes = {
            one.model.name: box
            for one in found.evaluated
            if one.known_hosts == count and (box := error_box(one.cases)) is not None
        }
        rows = [names.index(name) for name in boxes]
        shifted = [row + 0.7 * ((place + 0.5) / len(counts) - 0.5) for row in rows]
        values = [[max(value, _LEAST_ERROR) for value in box] for box in boxes.values()]
        data += _boxes(f"{count} known", color, values, shifted)
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "showlegend": False,
                "x": [value[5] for value in values],
                "y": shifted,
                "marker": {"symbol": "x-thin-open", "color": color, "size": 7},
                "hovertemplate": "worst %{x:.2%}<extra></extra>",
            }
        )
    x = axis("error", type="log", dtick="D2", tickformat=".2~%")
    height = _rows(len(names) * (1 + len(counts)) // 2 + 2)
    return {"data": data, "layout": with_legend(layout(height, x, _names_axis(names)))}


def _boxes(
    name: str, color: str, values: Sequence[Sequence[float]], rows: Sequence[float]
) -> list[dict[str, Any]]:
    """Boxes of lines: fences, quartiles and medians of each row; the first stands in the legend."""
    common = {"type": "scatter", "mode": "lines", "legendgroup": name, "showlegend": False}
    breaks = [place for row in rows for place in (row, row, None)]
    return [
        {
            **common,
            "x": [x for low, *_, high, _ in values for x in (low, high, None)],
            "y": breaks,
            "line": {"color": color, "width": 1.5},
            "hoverinfo": "skip",
        },
        {
            **common,
            "x": [x for _, lower, _, upper, *_ in values for x in (lower, upper, None)],
            "y": breaks,
            "line": {"color": color, "width": 8},
            "opacity": 0.6,
            "hovertemplate": "quartile %{x:.2%}<extra></extra>",
        },
        {
            **common,
            "mode": "markers",
            "name": name,
            "showlegend": True,
            "x": [value[2] for value in values],
            "y": list(rows),
            "marker": {"color": color, "symbol": "line-ns-open", "size": 12, "line": {"width": 3}},
            "hovertemplate": "median %{x:.2%}<extra></extra>",
        },
    ]


def curves_figure(scores: Sequence[Score]) -> dict[str, Any]:
    """The worst and the 95th percentile of errors against the share answered (figure 7.8)."""
    shown = [score for score in scores if score.curve][:_MOST_CURVES]
    data: list[dict[str, Any]] = []
    for place, score in enumerate(shown):
        for key, label, dash in (("error_max", "worst", "solid"), ("error_p95", "95 %", "dot")):
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": f"{score.evaluated.model.name}, {label}",
                    "x": [point.share for point in score.curve],
                    "y": [max(getattr(point, key), _LEAST_ERROR) for point in score.curve],
                    "line": {"color": PALETTE[place], "dash": dash},
                }
            )
    x = axis("share answered", tickformat=".0%", range=[0, 1.02])
    y = axis("error", type="log", dtick="D2", tickformat=".2~%")
    return {"data": data, "layout": with_legend(layout(420, x, y), len(shown))}


def tree_figure(merges: Any, names: Sequence[str]) -> dict[str, Any]:
    """The dendrogram of benchmarks (figure 7.5)."""
    tree = lay_out_tree(merges)
    x: list[float | None] = []
    y: list[float | None] = []
    for first, second, top, at, other in tree.forks:
        x += [first, top, top, second, None]
        y += [at, at, other, other, None]
    lines = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": PALETTE[0]},
        "hoverinfo": "skip",
    }
    rows = [names[leaf] for leaf in tree.leaves]
    across = axis("1 - correlation of the most unlike pair")
    return {"data": [lines], "layout": layout(_rows(len(rows)), across, _names_axis(rows))}
