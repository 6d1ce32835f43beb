"""The page of agreement: Figures 3.1 to 3.6 of Mytkowicz (2010) for one's own programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from steelyard.analysis.profiles.agreement_results import RELATIONS, Agreement, ProgramAgreement
from steelyard.analysis.profiles.profile_agreement import LARGEST_N
from steelyard.core.estimate import Estimate, Interval
from steelyard.report.drawings.drawing import MUTED
from steelyard.report.kinds.agreement.text import (
    RELATION_WORDS,
    hotness_table,
    pairs_table,
    program_label,
    relations_line,
    totals_table,
    unions_table,
)
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.plots.plot_style import PALETTE, as_plotly_text, axis, layout

_LEGEND = {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
_RELATION_COLORS = dict(zip(RELATIONS, ("#009E73", "#E69F00", "#D55E00"), strict=True))
_SHOWN = 42


def agreement_page(found: Agreement) -> str:
    """One page that loads nothing from anywhere."""
    figures = {
        "unions": _mean_unions(found),
        "magnitude": _magnitude(found.programs),
        "relations": _relations(found.programs),
        "hottest": _first_unions(found.programs),
        **{f"hotness-{n}": _hotness(item) for n, item in enumerate(found.programs)},
    }
    names = [program_label(item) for item in found.programs]
    view = {
        "title": f"Do profilers agree about {names[0] if len(names) == 1 else 'these programs'}?",
        "relations_line": relations_line(found),
        "unions_table": unions_table(found.programs),
        "totals": totals_table(found) if len(found.programs) > 1 else None,
        "programs": [
            {"name": name, "hotness": hotness_table(item), "pairs": pairs_table(item)}
            for name, item in zip(names, found.programs, strict=True)
        ],
    }
    return plotted_page("agreement/page.html.jinja", view, figures)


def _short(name: str) -> str:
    return as_plotly_text(name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…")


def _with_legend(figure: dict[str, Any], rows: int) -> dict[str, Any]:
    figure |= _LEGEND
    figure["margin"] = {**figure["margin"], "t": 40 + 18 * rows}
    return figure


def _bounds(values: Sequence[Interval], factor: float) -> dict[str, Any]:
    """Error bars of estimates; none where an interval could not be given."""
    known = [value if isinstance(value, Estimate) else None for value in values]
    return {
        "type": "data",
        "symmetric": False,
        "array": [factor * (v.high - v.estimate) if v else 0 for v in known],
        "arrayminus": [factor * (v.estimate - v.low) if v else 0 for v in known],
        "color": MUTED,
        "thickness": 1.2,
    }


def _hotness(item: ProgramAgreement) -> dict[str, Any]:
    """Figure 3.1: bars of the hottest functions, one group a profiler."""
    profilers = list(item.hottest)
    functions = list(dict.fromkeys(item.hottest.values()))
    bars: list[dict[str, Any]] = []
    for index, function in enumerate(functions):
        shares = [item.share(profiler, function) for profiler in profilers]
        bars.append(
            {
                **{"type": "bar", "name": _short(function), "x": profilers},
                "y": [100 * (share.estimate or 0.0) for share in shares],
                "error_y": _bounds(shares, 100),
                "marker": {"color": PALETTE[index % len(PALETTE)]},
            }
        )
    # An interval may go beyond what a share can be: it is cut off at the whole.
    reach = min(100.0, 1.2 * max(max(map(float, item["y"])) for item in bars))
    figure = layout(300, axis(""), axis("share of the time [%]", range=[0, reach]))
    return {"data": bars, "layout": _with_legend({**figure, "barmode": "group"}, 1)}


def _first_unions(programs: Sequence[ProgramAgreement]) -> dict[str, Any]:
    """Figures 3.2 and 3.6: how many functions are the hottest by some profiler; builds or runtimes
    of one program stand beside each other."""
    settings = list(dict.fromkeys(item.profiles.setting for item in programs))
    bars: list[dict[str, Any]] = []
    for index, setting in enumerate(settings):
        chosen = [item for item in programs if item.profiles.setting == setting]
        bars.append(
            {
                **{"type": "bar", "name": as_plotly_text(setting or "as built")},
                "x": [as_plotly_text(item.profiles.name) for item in chosen],
                "y": [item.unions[0].estimate for item in chosen],
                "error_y": _bounds([item.unions[0] for item in chosen], 1),
                "marker": {"color": PALETTE[index % len(PALETTE)]},
            }
        )
    most = max(len(item.hottest) for item in programs)
    vertical = axis("hottest functions", range=[0, most + 0.3], dtick=1)
    figure = {**layout(300, axis(""), vertical), "barmode": "group"}
    return {"data": bars, "layout": _with_legend(figure, 1) if len(settings) > 1 else figure}


def _mean_unions(found: Agreement) -> dict[str, Any]:
    """Figure 3.3: Union_n against n, between full agreement and none."""
    counts = list(range(1, LARGEST_N + 1))
    most = max(len(item.hottest) for item in found.programs)
    alone = len(found.programs) == 1
    unions = found.programs[0].unions if alone else found.unions
    lines = [
        {
            **{"type": "scatter", "mode": "lines", "x": counts, "hoverinfo": "skip"},
            **{"y": [slope * n for n in counts], "name": name},
            "line": {"color": MUTED, "width": 1, "dash": dash},
        }
        for slope, name, dash in ((most, "none agree", "dash"), (1, "all agree", "dot"))
    ]
    points = {
        **{"type": "scatter", "mode": "lines+markers", "x": counts},
        "name": "this program" if alone else "mean of the programs",
        "y": [union.estimate for union in unions],
        "error_y": _bounds(unions, 1),
        "line": {"color": PALETTE[0]},
    }
    figure = layout(
        340, axis("n", dtick=1), axis("different functions", range=[0, most * LARGEST_N])
    )
    return {"data": [*lines, points], "layout": _with_legend(figure, 1)}


def _magnitude(programs: Sequence[ProgramAgreement]) -> dict[str, Any]:
    """Figure 3.4: what each profiler says of the function that another finds the hottest."""
    data: list[dict[str, Any]] = []
    for index, item in enumerate(programs):
        x: list[float] = []
        y: list[float] = []
        text: list[str] = []
        for first, second in permutations(item.hottest, 2):
            function = item.hottest[first]
            x.append(100 * (item.share(first, function).estimate or 0.0))
            y.append(100 * (item.share(second, function).estimate or 0.0))
            text.append(f"{_short(function)}: x by {first}, y by {second}")
        data.append(
            {
                **{"type": "scatter", "mode": "markers", "x": x, "y": y, "text": text},
                "name": as_plotly_text(program_label(item)),
                "marker": {"color": PALETTE[index % len(PALETTE)], "size": 7, "opacity": 0.75},
                "hovertemplate": "%{text}<br>%{x:.1f} %, %{y:.1f} %<extra></extra>",
            }
        )
    reach = 5 + max(max(map(float, item["x"] + item["y"]), default=0.0) for item in data)
    line = {
        **{"type": "scatter", "mode": "lines", "x": [0, reach], "y": [0, reach]},
        **{"name": "equal", "hoverinfo": "skip"},
        "line": {"color": MUTED, "width": 1, "dash": "dot"},
    }
    figure = layout(
        420,
        axis("share by the profiler whose hottest it is [%]", range=[0, reach]),
        axis("share by another profiler [%]", range=[0, reach]),
    )
    return {"data": [line, *data], "layout": _with_legend(figure, 1 + len(data) // 5)}


def _relations(programs: Sequence[ProgramAgreement]) -> dict[str, Any]:
    """Figure 3.5: pairs of profilers by how their hottest functions stand to each other."""
    names = [as_plotly_text(program_label(item)) for item in programs]
    bars = [
        {
            **{"type": "bar", "name": RELATION_WORDS[relation], "x": names},
            "y": [sum(pair.relation == relation for pair in item.pairs) for item in programs],
            "marker": {"color": _RELATION_COLORS[relation]},
        }
        for relation in RELATIONS
    ]
    figure = {**layout(300, axis(""), axis("pairs of profilers")), "barmode": "stack"}
    return {"data": bars, "layout": _with_legend(figure, 1)}
