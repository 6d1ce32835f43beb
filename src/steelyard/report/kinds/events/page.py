"""The page of an event study."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from steelyard.analysis.events.event_counts import KindOfEvent
from steelyard.analysis.events.internal_variance import InternalVariance, Run
from steelyard.analysis.tables.figure_values import Figure, MapFigure, ScatterFigure, ScatterPanel
from steelyard.core.estimate import Estimate
from steelyard.core.units import scale_for
from steelyard.report.documents.rendering import Origin
from steelyard.report.drawings import DRAWINGS, svg_of
from steelyard.report.kinds.events.paths_text import path_label, paths_table
from steelyard.report.kinds.events.text import (
    conclusion,
    correlation_table,
    counts_table,
    diff_lines,
    headline,
)
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.texts.readable import caution_text, elided

_MOST_PANELS = 5
_MOST_ROWS = 30
# Of call paths, whose labels are long.
_MOST_PATHS, _MOST_PATH_ROWS, _LONGEST_LABEL = 500, 12, 44
_PATHS = {
    "title": "Which runs take a call path more often, which less?",
    "caption": (
        "As above, with a row for each call path of a kind that has several: the kind, then the "
        "innermost functions."
    ),
}
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
        orders = tuple(100 * found.moved_ratios[i][j] for i, j in pairs)
        title = f"pairs of runs, p {found.order.p:.2g}"
        panels.append(
            ScatterPanel(
                title, "events in another order [%]", f"difference of {name}", orders, apart
            )
        )
    figures: list[Figure] = [ScatterFigure(tuple(panels))] if panels else []
    if differing:
        named = [(kind.name, kind) for kind in differing]
        figures.append(_map(named, found.runs, found, name))
    return (*figures, *_path_map(found, name))


def _path_map(found: InternalVariance, name: str) -> tuple[MapFigure, ...]:
    """The call paths that differ between runs and tell events of one kind apart."""
    differing = [
        (elided(path_label(one.path), _LONGEST_LABEL), one.events)
        for one in found.paths or ()
        if one.tells_apart and one.events.differs
    ]
    runs = [run for run in found.runs if run.paths is not None]
    return (_map(differing[:_MOST_PATH_ROWS], runs, found, name),) if differing else ()


def _map(
    kinds: Sequence[tuple[str, KindOfEvent]],
    runs: Sequence[Run],
    found: InternalVariance,
    name: str,
) -> MapFigure:
    """Counts against their mean, runs from the lowest result to the highest."""
    places = sorted(range(len(runs)), key=lambda place: runs[place].value)
    shown = list(reversed(kinds[:_MOST_ROWS]))
    rows: list[tuple[float | None, ...]] = []
    for _, kind in shown:
        mean = sum(kind.counts) / len(kind.counts)
        deviation = (sum((c - mean) ** 2 for c in kind.counts) / len(kind.counts)) ** 0.5
        rows.append(tuple((kind.counts[place] - mean) / deviation for place in places))
    factor, _ = scale_for(found.recorded_mean, found.unit)
    x = tuple(f"{runs[place].value / factor:.3g}" for place in places)
    return MapFigure(
        f"runs by {name}", "", "number, in standard deviations", x,
        tuple(label for label, _ in shown), tuple(rows),
    )  # fmt: skip


def events_page(found: InternalVariance, origin: Origin) -> str:
    """One page that shows everything about an event study and loads nothing from anywhere."""
    first, second = (found.runs[place] for place in found.far_pair)
    maps = iter((_COUNTS, _PATHS))
    view = {
        "title": headline(found),
        "source": origin.experiment or "",
        "conclusion": conclusion(found),
        "correlations": correlation_table(found),
        "counts": counts_table(found),
        "diff": diff_lines(found),
        "pair": f"trial {first.position} (<) and trial {second.position} (>)",
        "cautions": [caution_text(caution.message) for caution in found.cautions],
        "paths": paths_table(found.paths[:_MOST_PATHS]) if found.paths else None,
        "paths_left_out": max(0, len(found.paths or ()) - _MOST_PATHS),
        "answers": [
            {
                "drawing": next(maps) if isinstance(shown, MapFigure) else DRAWINGS[type(shown)],
                "image": base64.b64encode(svg_of(shown)).decode("ascii"),
            }
            for shown in events_figures(found)
        ],
    }
    return rendered_page("events/page.html.jinja", view)


def events_plots(found: InternalVariance, directory: str) -> list[str]:
    """Every figure as PNG and SVG."""
    from steelyard.report.drawings import write_drawings

    return write_drawings(events_figures(found), directory)
