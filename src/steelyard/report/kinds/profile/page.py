"""The page of a profile: a flame graph, the hottest functions, and how random the samples were."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
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
    weighed,
)
from steelyard.report.pages.flame_graph import flame_graph
from steelyard.report.pages.provenance_tables import command_line
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import as_plotly_text, axis, layout
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import caution_text, one_line

_SHOWN_FUNCTIONS = 200
_BAR_FUNCTIONS = 20
_HISTOGRAM_BINS = 60


def profile_page(answer: ProfileAnswer) -> str:
    """One page that shows everything about a profile and loads nothing from anywhere."""
    figures = {"where": _where(answer), **health_figures(answer)}
    header = answer.recorded.header
    argv = tuple(header.get("argv", ()))
    view = {
        "title": f"Profile of {recorded_program(answer)}",
        "command": command_line(argv) if len(argv) > 1 else "",
        "file": os.path.basename(answer.recorded.path),
        "facts": facts_line(answer),
        "chains": len(answer.samples.stacks) > len(answer.samples.functions),
        "cautions": [caution_text(caution.message) for caution in answer.cautions],
        "functions": functions_table(answer, _SHOWN_FUNCTIONS),
        "threads": threads_table(answer),
        "health": [*(health_line(item) for item in answer.health), *delays_lines(answer)],
        "watched": len(answer.health),
        "weighed": weighed(answer),
    }
    return plotted_page("profile/page.html.jinja", view, figures)


def recorded_program(answer: ProfileAnswer) -> str:
    """What was recorded: a program by its name, or a process by its number."""
    header = answer.recorded.header
    argv = header.get("argv", ())
    return one_line(os.path.basename(argv[0])) if argv else f"process {header.get('process')}"


def _where(answer: ProfileAnswer) -> dict[str, Any]:
    """The flame graph, or bars of the hottest functions where no call chains were kept."""
    if len(answer.samples.stacks) > len(answer.samples.functions):
        return flame_graph(answer.samples.frames, merged_stacks(answer.samples))
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
    figure = layout(height, axis(f"share of the {weighed(answer)} [%]"), axis("", automargin=True))
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


def health_figures(answer: ProfileAnswer) -> dict[str, Any]:
    """Intervals between looks and their autocorrelation, two figures for each source of looks."""
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
