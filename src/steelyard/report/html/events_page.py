"""The page of an event study."""

from __future__ import annotations

import base64

from steelyard.analysis.events.internal_variance import InternalVariance
from steelyard.analysis.figures import Figure, MapFigure, ScatterFigure, ScatterPanel
from steelyard.core.estimate import Estimate
from steelyard.core.units import scale_for
from steelyard.report.drawings import DRAWINGS, svg_of
from steelyard.report.events_text import (
    conclusion,
    correlation_table,
    counts_table,
    diff_lines,
    headline,
)
from steelyard.report.html.rendered import rendered_page
from steelyard.report.rendering import Origin
from steelyard.report.wording import caution_text

_MOST_PANELS = 5
_MOST_ROWS = 30
_COUNTS = {
    "title": "Which runs have more, which fewer?",
    "caption": (
        "A row a kind of event, a column a run, from the lowest result to the highest. A row whose "
        "colour changes from left to right goes with the result."
    ),
}


def events_figures(found: InternalVariance) -> tuple[Figure, ...]:
    """The kinds that go most with the result, and the counts of all that differ."""
    factor, unit = scale_for(found.recorded_mean, found.unit)
    values = tuple(run.value / factor for run in found.runs)
    name = f"{found.response} [{unit}]" if unit else found.response
    differing = [kind for kind in found.kinds if kind.differs]
    panels = [
        ScatterPanel(
            "" if kind.adjusted_p is None else f"corrected p {kind.adjusted_p:.2g}",
            kind.name,
            name,
            tuple(map(float, kind.counts)),
            values,
        )
        for kind in differing[:_MOST_PANELS]
    ]
    pairs = [(i, j) for i in range(len(values)) for j in range(i)]
    if isinstance(found.order.coefficient, Estimate):
        apart = tuple(abs(values[i] - values[j]) for i, j in pairs)
        orders = tuple(float(found.order_differences[i][j]) for i, j in pairs)
        title = f"pairs of runs, p {found.order.p:.2g}"
        panels.append(
            ScatterPanel(title, "difference in order", f"difference of {name}", orders, apart)
        )
    figures: list[Figure] = [ScatterFigure(tuple(panels))] if panels else []
    if differing:
        figures.append(_map(found, name))
    return tuple(figures)


def _map(found: InternalVariance, name: str) -> MapFigure:
    """Counts against their mean, runs from the lowest result to the highest."""
    places = sorted(range(len(found.runs)), key=lambda place: found.runs[place].value)
    kinds = [kind for kind in found.kinds if kind.differs][:_MOST_ROWS]
    rows: list[tuple[float | None, ...]] = []
    for kind in reversed(kinds):
        mean = sum(kind.counts) / len(kind.counts)
        deviation = (sum((c - mean) ** 2 for c in kind.counts) / len(kind.counts)) ** 0.5
        rows.append(tuple((kind.counts[place] - mean) / deviation for place in places))
    factor, _ = scale_for(found.recorded_mean, found.unit)
    x = tuple(f"{found.runs[place].value / factor:.3g}" for place in places)
    return MapFigure(
        f"runs by {name}", "", "number, in standard deviations", x,
        tuple(kind.name for kind in reversed(kinds)), tuple(rows),
    )  # fmt: skip


def events_page(found: InternalVariance, origin: Origin) -> str:
    """One page that shows everything about an event study and loads nothing from anywhere."""
    first, second = (found.runs[place] for place in found.far_pair)
    view = {
        "title": headline(found),
        "source": origin.experiment or "",
        "conclusion": conclusion(found),
        "correlations": correlation_table(found),
        "counts": counts_table(found),
        "diff": diff_lines(found),
        "pair": f"trial {first.position} (<) and trial {second.position} (>)",
        "cautions": [caution_text(caution.message) for caution in found.cautions],
        "answers": [
            {
                "drawing": _COUNTS if isinstance(shown, MapFigure) else DRAWINGS[type(shown)],
                "image": base64.b64encode(svg_of(shown)).decode("ascii"),
            }
            for shown in events_figures(found)
        ],
    }
    return rendered_page("events.html.jinja", view)


def events_plots(found: InternalVariance, directory: str) -> list[str]:
    """Every figure as PNG and SVG."""
    from steelyard.report.drawings import write_drawings

    return write_drawings(events_figures(found), directory)
