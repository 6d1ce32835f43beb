"""What measurements say of the suite's programs: a table, a figure, and a page with both."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from steelyard.core.units import format_duration
from steelyard.report.kinds.suite.text import NOTHING, size_text
from steelyard.report.texts.table import Table
from steelyard.suite.program_figures import Description

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = {"program": "#2b7bba", "libraries": "#e08a2e", "kernel": "#8a8f98"}
_ROW_INCHES = 0.24
_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { padding: .25em .6em; border-bottom: 1px solid #ddd; text-align: right }
th.left, td.left { text-align: left } svg { max-width: 100%; height: auto }"""


def description_table(found: Sequence[Description]) -> Table:
    """A row for each program."""
    headers = (
        *("program", "wall time", "CoV", "user time", "CoV", "peak memory", "allocations"),
        *("allocated", "functions", "program", "libraries", "kernel", "build"),
    )
    return Table(headers, tuple(map(_row, found)), frozenset({0}), spare=(4, 7, 8))


def _row(item: Description) -> tuple[str, ...]:
    run, shares, allocations = item.run, item.shares, item.allocations
    peak_bytes = run.mean("max_rss")
    return (
        run.recipe.name,
        _time(run.mean("wall_time")),
        _percent(run.variation("wall_time")),
        _time(run.mean("user_time")),
        _percent(run.variation("user_time")),
        size_text(None if peak_bytes is None else int(peak_bytes)),
        NOTHING if allocations is None else f"{allocations.count:,}".replace(",", " "),
        size_text(None if allocations is None else allocations.size_bytes),
        NOTHING if item.function_count is None else str(item.function_count),
        _percent(shares and shares.program),
        _percent(shares and shares.libraries),
        _percent(shares and shares.kernel),
        _time(item.build_s),
    )


def _time(time_s: float | None) -> str:
    return NOTHING if time_s is None else format_duration(time_s)


def _percent(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{100 * ratio:.1f} %"


def draw_description(found: Sequence[Description], figure: Figure) -> None:
    """Draw run time, its variation, where time goes, peak memory and build time."""
    shown = [item for item in found if not item.run.problem]
    figure.set_size_inches(13.5, 1.2 + _ROW_INCHES * max(4, len(shown)))
    axes = figure.subplots(1, 5, sharey=True)
    names = [item.run.recipe.name for item in shown]
    _dots(axes[0], [item.run.mean("wall_time") for item in shown], "wall time [s]")
    variations = [item.run.variation("user_time") for item in shown]
    percents = [None if v is None else 100 * v for v in variations]
    _bars(axes[1], percents, "CoV of user time [%]")
    _shares(axes[2], shown)
    peaks = [item.run.mean("max_rss") for item in shown]
    _dots(axes[3], [None if v is None else v / 2**20 for v in peaks], "peak memory [MiB]")
    _dots(axes[4], [item.build_s for item in shown], "build [s]")
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.5, -0.5)


def _bars(axes: Axes, values: Sequence[float | None], title: str) -> None:
    axes.barh(range(len(values)), [value or 0.0 for value in values], color=_COLORS["program"])
    axes.set_title(title)


def _dots(axes: Axes, values: Sequence[float | None], title: str) -> None:
    """On a logarithmic axis, where a bar would have no beginning."""
    from matplotlib.ticker import LogFormatter, NullFormatter

    known = [(value, row) for row, value in enumerate(values) if value]
    if known:
        axes.plot(*zip(*known, strict=True), "o", color=_COLORS["program"], markersize=5)
        axes.set_xscale("log")
        low, high = min(known)[0], max(known)[0]
        axes.set_xlim(
            min(low / 1.5, 10 ** floor(log10(low))), max(high * 1.5, 10 ** ceil(log10(high)))
        )
        axes.xaxis.set_major_formatter(LogFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(title)


def _shares(axes: Axes, shown: Sequence[Description]) -> None:
    begins = [0.0] * len(shown)
    for name, color in _COLORS.items():
        parts = [100 * getattr(item.shares, name) if item.shares else 0.0 for item in shown]
        axes.barh(range(len(shown)), parts, left=begins, color=color, label=name)
        begins = [begin + part for begin, part in zip(begins, parts, strict=True)]
    axes.set_title("share of time [%]")
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=len(_COLORS))


def figure_bytes(found: Sequence[Description], form: str) -> bytes:
    """The figure as a file of the form ``png``, ``svg`` or ``pdf``."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from steelyard.report.plots.plot_files import STYLE

    # Nothing of the moment in the file, so that the same measurements give the same bytes.
    with mpl.rc_context(STYLE):
        figure = Figure()
        draw_description(found, figure)
        target = io.BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        figure.savefig(target, format=form, dpi=110, metadata=metadata)
    return target.getvalue()


def description_page(found: Sequence[Description], about: str) -> str:
    """A page of HTML that needs nothing else: the figure, the table, and what could not be had."""
    svg = figure_bytes(found, "svg").decode("utf-8")
    notes = [(item.run.recipe.name, note) for item in found for note in _notes(item)]
    listed = "".join(f"<li>{html.escape(f'{name}: {note}')}</li>" for name, note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>The suite</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>The suite on this machine</h1>\n<p>{html.escape(about)}</p>\n"
        f"{svg[svg.index('<svg') :]}\n{_table_html(description_table(found))}\n"
        + (f"<h2>What could not be had</h2><ul>{listed}</ul>\n" if listed else "")
        + "</body></html>\n"
    )


def _notes(item: Description) -> tuple[str, ...]:
    return (item.run.problem, *item.notes) if item.run.problem else item.notes


def _table_html(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=left' if column in table.left else ''}>{html.escape(cell)}</{tag}>"
            for column, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>\n" for cells in table.rows)
    return (
        f"<table><thead><tr>{row(table.headers, 'th')}</tr></thead>\n<tbody>{body}</tbody></table>"
    )
