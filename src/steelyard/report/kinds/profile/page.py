"""The page of a profile: a flame graph, the hottest functions, and how random the samples were."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.analysis.profiles.call_stacks import merged_stacks
from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import FunctionShare
from steelyard.core.estimate import Interval, Unbounded
from steelyard.report.kinds.profile.text import (
    delays_lines,
    facts_line,
    functions_table,
    health_line,
    threads_table,
)
from steelyard.report.pages.provenance_tables import command_line
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import as_plotly_text, axis, layout
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import caution_text, one_line

_SHOWN_FUNCTIONS = 200
# Boxes narrower than this are not to be seen, let alone read.
_SMALLEST_BOX_RATIO = 0.0005
_FLAME_COLORS = ("#D55E00", "#B8860B", "#0072B2", "#009E73", "#CC79A7", "#8C6BB1", "#56B4E9")
_BAR_FUNCTIONS = 20
_HISTOGRAM_BINS = 60


def profile_page(answer: ProfileAnswer) -> str:
    """One page that shows everything about a profile and loads nothing from anywhere."""
    figures = {"where": _where(answer), **_health_figures(answer)}
    header = answer.recorded.header
    argv = tuple(header.get("argv", ()))
    view = {
        "title": f"Profile of {_program(argv, header)}",
        "command": command_line(argv) if len(argv) > 1 else "",
        "file": os.path.basename(answer.recorded.path),
        "facts": facts_line(answer),
        "chains": len(answer.samples.stacks) > len(answer.samples.functions),
        "cautions": [caution_text(caution.message) for caution in answer.cautions],
        "functions": functions_table(answer, _SHOWN_FUNCTIONS),
        "threads": threads_table(answer),
        "health": [*(health_line(item) for item in answer.health), *delays_lines(answer)],
        "watched": len(answer.health),
    }
    return plotted_page("profile/page.html.jinja", view, figures)


def _program(argv: tuple[str, ...], header: Mapping[str, Any]) -> str:
    return one_line(os.path.basename(argv[0])) if argv else f"process {header.get('process')}"


def _where(answer: ProfileAnswer) -> dict[str, Any]:
    """The flame graph, or bars of the hottest functions where no call chains were kept."""
    if len(answer.samples.stacks) > len(answer.samples.functions):
        return _flame_graph(answer)
    return _bars(answer)


def _bars(answer: ProfileAnswer) -> dict[str, Any]:
    shown = [share for share in answer.functions if share.sample_count][:_BAR_FUNCTIONS][::-1]
    shares = [100 * (share.share.estimate or 0.0) for share in shown]
    bounds = [_bounds(share.share) for share in shown]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": shares,
        "y": [as_plotly_text(label) for label in _bar_labels(shown)],
        "marker": {"color": "#0072B2"},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [high for _, high in bounds],
            "arrayminus": [low for low, _ in bounds],
            "color": "#6B7B8C",
        },
        "hovertemplate": "%{y}: %{x:.2f} %<extra></extra>",
    }
    height = 90 + 24 * len(shown)
    figure = layout(height, axis("share of the time [%]"), axis("", automargin=True))
    return {"data": [bars], "layout": figure}


def _bounds(share: Interval) -> tuple[float, float]:
    """How far the bounds of a share are below and above it, in percent; without bounds as far as
    a share goes."""
    estimate = share.estimate or 0.0
    if isinstance(share, Unbounded):
        return 100 * estimate, 100 * (1 - estimate)
    return 100 * (estimate - share.low), 100 * (share.high - estimate)


def _bar_labels(shares: Sequence[FunctionShare]) -> list[str]:
    """Labels that are all different: bars of one label would lie upon each other."""
    often = Counter(share.frame.name for share in shares)
    names = [
        f"{frame.name} ({os.path.basename(frame.object)})" if often[frame.name] > 1 else frame.name
        for frame in (share.frame for share in shares)
    ]
    found = labels(names)
    return [found[name] for name in names]


def _flame_graph(answer: ProfileAnswer) -> dict[str, Any]:
    frames = answer.samples.frames
    total = len(answer.samples.functions)
    values: dict[tuple[int, ...], int] = {}
    for stack, count in merged_stacks(answer.samples):
        for depth in range(1, len(stack) + 1):
            values[stack[:depth]] = values.get(stack[:depth], 0) + count
    shown = {path: n for path, n in values.items() if n >= total * _SMALLEST_BOX_RATIO}
    objects = list(dict.fromkeys(frames[path[-1]].object for path in shown))
    colors = {name: _FLAME_COLORS[i % len(_FLAME_COLORS)] for i, name in enumerate(objects)}
    starts = _box_starts(shown)
    boxes = {
        "type": "bar",
        "orientation": "h",
        "base": [starts[path] for path in shown],
        "x": list(shown.values()),
        "y": [len(path) for path in shown],
        "width": 1,
        "text": [as_plotly_text(frames[path[-1]].name) for path in shown],
        "customdata": [
            [round(count / total, 5), starts[path], starts[path] + count]
            for path, count in shown.items()
        ],
        "textposition": "inside",
        "insidetextanchor": "start",
        "textangle": 0,
        "constraintext": "none",
        "marker": {
            "color": [colors[frames[path[-1]].object] for path in shown],
            "line": {"width": 0.5, "color": "#ffffff"},
        },
        "hovertemplate": "%{text}<br>%{x} samples, %{customdata[0]:.2%}<extra></extra>",
    }
    depth = max((len(path) for path in shown), default=1)
    across = axis("samples", range=[0, total], showgrid=False)
    upward = axis("", range=[0.5, depth + 0.5], visible=False, fixedrange=True)
    figure = layout(min(900, 120 + 24 * depth), across, upward)
    figure["barmode"] = "overlay"
    figure["meta"] = {"zooms": True}  # The script of the page: a click fills the width.
    figure["uniformtext"] = {"mode": "hide", "minsize": 9}
    figure["margin"] = {"l": 4, "r": 4, "t": 8, "b": 40}
    return {"data": [boxes], "layout": figure}


def _box_starts(shown: Mapping[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """Where each box begins: beside its elder siblings, at the begin of the box below it."""
    starts: dict[tuple[int, ...], int] = {}
    filled: dict[tuple[int, ...], int] = {}
    for path in sorted(shown, key=len):
        below = path[:-1]
        begin = filled.get(below, starts.get(below, 0))
        starts[path] = begin
        filled[below] = begin + shown[path]
    return starts


def _health_figures(answer: ProfileAnswer) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    recorded = answer.recorded
    for number, item in enumerate(answer.health):
        source = int(item.source.split()[-1])
        times_ns = recorded.look_times_ns[recorded.look_sources == source]
        intervals_ms = np.diff(times_ns).astype(float) * 1e-6
        shown = intervals_ms[intervals_ms <= np.quantile(intervals_ms, 0.995)]
        counts, edges = np.histogram(shown, _HISTOGRAM_BINS)
        figures[f"intervals-{number}"] = {
            "data": [
                {
                    "type": "bar",
                    "x": ((edges[:-1] + edges[1:]) / 2).round(6).tolist(),
                    "y": counts.tolist(),
                    "marker": {"color": "#0072B2"},
                    "hovertemplate": "%{x:.3f} ms: %{y}<extra></extra>",
                }
            ],
            "layout": layout(230, axis(f"{item.source}: interval [ms]"), axis("looks"), bargap=0),
        }
        figures[f"correlation-{number}"] = _correlation(item.autocorrelation, item.bound)
    return figures


def _correlation(values: tuple[float, ...], bound: float) -> dict[str, Any]:
    lines = [
        {
            **{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level, "y1": level},
            "line": {"width": 1, "dash": "dot" if level else "solid", "color": "#8a8f98"},
        }
        for level in (-bound, 0, bound)
    ]
    reach = max(4 * bound, 1.1 * max(map(abs, values), default=0))
    bars = {
        "type": "bar",
        "x": list(range(1, len(values) + 1)),
        "y": [round(value, 4) for value in values],
        "width": 0.35,
        "marker": {"color": "#0072B2"},
        "hovertemplate": "lag %{x}: %{y:.3f}<extra></extra>",
    }
    vertical = axis("autocorrelation", range=[-reach, reach])
    return {"data": [bars], "layout": layout(230, axis("lag"), vertical, shapes=lines)}
