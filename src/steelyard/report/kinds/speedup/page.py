"""The page of a speed-up: what profilers promised, beside what was gained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.profiles.speedup import Speedup
from steelyard.core.estimate import Estimate, Interval
from steelyard.report.drawings.drawing import MUTED
from steelyard.report.kinds.speedup.text import gain_sentence, notes, speedup_table
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import PALETTE, axis, layout, rows_axis

_ROW_HEIGHT, _FRAME_HEIGHT = 44, 110
_LEGEND = {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}


def speedup_page(found: Speedup, before: Sequence[str]) -> str:
    """One page that loads nothing from anywhere; `before` is the command of the slow build."""
    view = {
        "title": f"Does mending {found.function} in {' '.join(before)} bring what was promised?",
        "sentence": gain_sentence(found),
        "table": speedup_table(found),
        "cautions": [caution.message for caution in found.cautions],
        "notes": notes(found),
    }
    return plotted_page(
        "speedup/page.html.jinja", view, {"gains": _gains(found), "blocks": _blocks(found)}
    )


def _gains(found: Speedup) -> dict[str, Any]:
    """A row for each profiler: its promise, and the share that is the most it can promise."""
    rows = list(range(len(found.promises)))
    data = [
        _points("share before", rows, [item.share for item in found.promises], "circle-open"),
        _points("promised gain", rows, [item.gain for item in found.promises], "circle"),
    ]
    names = [item.profiler for item in found.promises]
    height = _FRAME_HEIGHT + _ROW_HEIGHT * len(rows)
    x = axis("part of the program's time before [%]", rangemode="tozero")
    figure = layout(height, x, rows_axis(names), **_LEGEND, shapes=_measured(found.gain))
    figure["margin"] = {**figure["margin"], "t": 40}
    return {"data": data, "layout": figure}


def _points(
    name: str, rows: Sequence[int], values: Sequence[Interval], symbol: str
) -> dict[str, Any]:
    known = [value if isinstance(value, Estimate) else None for value in values]
    color = PALETTE[0] if symbol == "circle" else MUTED
    x = [None if value.estimate is None else 100 * value.estimate for value in values]
    bars = {
        "array": [100 * (v.high - v.estimate) if v else 0 for v in known],
        "arrayminus": [100 * (v.estimate - v.low) if v else 0 for v in known],
    }
    return {
        **{"type": "scatter", "mode": "markers", "name": name, "x": x, "y": list(rows)},
        "marker": {"symbol": symbol, "size": 10, "color": color},
        "error_x": {"type": "data", "symmetric": False, "color": color, "thickness": 1.4, **bars},
    }


def _measured(gain: Interval) -> list[dict[str, Any]]:
    """The measured gain as a line over all rows, in the band of its interval."""
    if gain.estimate is None:
        return []
    whole = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    line = {"color": PALETTE[1], "width": 1.5}
    middle = 100 * gain.estimate
    shapes = [{**whole, "type": "line", "x0": middle, "x1": middle, "line": line}]
    if isinstance(gain, Estimate):
        ends = {"x0": 100 * gain.low, "x1": 100 * gain.high}
        band = {"fillcolor": PALETTE[1], "opacity": 0.25, "line": {"width": 0}}
        shapes.append({**whole, **ends, **band, "type": "rect"})
    return shapes


def _blocks(found: Speedup) -> dict[str, Any]:
    """The times of both builds, block by block: drift and disturbances are seen here."""
    numbers = list(range(1, len(found.blocks) + 1))
    times = {
        "before": [item.before_s for item in found.blocks],
        "after": [item.after_s for item in found.blocks],
    }
    data = [
        {
            **{"type": "scatter", "mode": "markers+lines", "name": name, "x": numbers, "y": y},
            **{"line": {"color": PALETTE[index], "width": 1, "dash": "dot"}},
        }
        for index, (name, y) in enumerate(times.items())
    ]
    y = axis("processor time alone [s]", rangemode="tozero")
    figure = layout(280, axis("block", dtick=max(1, len(numbers) // 10)), y, **_LEGEND)
    figure["margin"] = {**figure["margin"], "t": 40}
    return {"data": data, "layout": figure}
