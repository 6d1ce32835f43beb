"""A flame graph: stacks as boxes upon each other, as wide as they have samples."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.report.plots.plot_style import as_plotly_text, axis, layout

Stack = tuple[int, ...]
# Boxes narrower than this are not to be seen, let alone read.
_SMALLEST_BOX_RATIO = 0.0005
_COLORS = ("#D55E00", "#B8860B", "#0072B2", "#009E73", "#CC79A7", "#8C6BB1", "#56B4E9")
_NO_PATH_COLOR = "#9AA3AE"


def flame_graph(
    frames: Sequence[Frame],
    stacks: Iterable[tuple[Stack, int]],
    unsure: Mapping[Stack, int] | None = None,
    without_path: Collection[Stack] = (),
) -> dict[str, Any]:
    """The figure of stacks with how often each was met.

    Parameters
    ----------
    frames : sequence of Frame
    stacks : iterable of (stack, count)
        Indices of frames, the outermost first.
    unsure : mapping of stack to int or None
        How many of a stack's samples may have come by another: their part of a box is hatched.
    without_path : collection of stack
        Stacks of which the callers are not known, which are grey.
    """
    values = _box_values(stacks)
    total = sum(count for path, count in values.items() if len(path) == 1)
    shown = {path: n for path, n in values.items() if n >= total * _SMALLEST_BOX_RATIO}
    starts = _box_starts(shown)
    colors = _colors(frames, shown, without_path)
    data = [_boxes(frames, shown, starts, colors, total)]
    if unsure:
        parts = _box_values(unsure.items())
        hatched = {path: min(parts[path], shown[path]) for path in shown if parts.get(path)}
        data.append(_hatches(frames, hatched, shown, starts))
    return {"data": data, "layout": _flame_layout(total, shown)}


def _box_values(stacks: Iterable[tuple[Stack, int]]) -> dict[Stack, int]:
    values: dict[Stack, int] = {}
    for stack, count in stacks:
        for depth in range(1, len(stack) + 1):
            values[stack[:depth]] = values.get(stack[:depth], 0) + count
    return values


def _colors(
    frames: Sequence[Frame], shown: Mapping[Stack, int], without_path: Collection[Stack]
) -> list[str]:
    """One color for each file."""
    objects = list(dict.fromkeys(frames[path[-1]].object for path in shown))
    of_object = {name: _COLORS[i % len(_COLORS)] for i, name in enumerate(objects)}
    return [
        _NO_PATH_COLOR if path in without_path else of_object[frames[path[-1]].object]
        for path in shown
    ]


def _boxes(
    frames: Sequence[Frame],
    shown: Mapping[Stack, int],
    starts: Mapping[Stack, int],
    colors: list[str],
    total: int,
) -> dict[str, Any]:
    return {
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
        "marker": {"color": colors, "line": {"width": 0.5, "color": "#ffffff"}},
        "hovertemplate": "%{text}<br>%{x} samples, %{customdata[0]:.2%}<extra></extra>",
    }


def _hatches(
    frames: Sequence[Frame],
    hatched: Mapping[Stack, int],
    shown: Mapping[Stack, int],
    starts: Mapping[Stack, int],
) -> dict[str, Any]:
    """Over the right end of each box, as wide as its samples that may have come otherwise."""
    return {
        "type": "bar",
        "orientation": "h",
        "base": [starts[path] + shown[path] - count for path, count in hatched.items()],
        "x": list(hatched.values()),
        "y": [len(path) for path in hatched],
        "width": 1,
        "text": [as_plotly_text(frames[path[-1]].name) for path in hatched],
        "textposition": "none",
        "customdata": [[shown[path], starts[path], starts[path] + shown[path]] for path in hatched],
        "marker": {
            "color": "rgba(255,255,255,0.35)",
            "line": {"width": 0},
            "pattern": {"shape": "/", "size": 6, "fgcolor": "rgba(0,0,0,0.6)"},
        },
        "hovertemplate": "%{text}<br>%{x} of %{customdata[0]} samples ambiguous<extra></extra>",
    }


def _flame_layout(total: int, shown: Mapping[Stack, int]) -> dict[str, Any]:
    depth = max((len(path) for path in shown), default=1)
    across = axis("samples", range=[0, total], showgrid=False)
    upward = axis("", range=[0.5, depth + 0.5], visible=False, fixedrange=True)
    figure = layout(min(900, 120 + 24 * depth), across, upward)
    figure["barmode"] = "overlay"
    figure["meta"] = {"zooms": True}  # The script of the page: a click fills the width.
    figure["uniformtext"] = {"mode": "hide", "minsize": 9}
    figure["margin"] = {"l": 4, "r": 4, "t": 8, "b": 40}
    return figure


def _box_starts(shown: Mapping[Stack, int]) -> dict[Stack, int]:
    """Where each box begins: beside its elder siblings, at the begin of the box below it."""
    starts: dict[Stack, int] = {}
    filled: dict[Stack, int] = {}
    for path in sorted(shown, key=len):
        below = path[:-1]
        begin = filled.get(below, starts.get(below, 0))
        starts[path] = begin
        filled[below] = begin + shown[path]
    return starts
