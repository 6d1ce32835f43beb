"""Figures 5.2 and 5.6 to 5.12 of Mytkowicz 2010, of what was measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from benchmarks.keys_of_paths.key_record import KINDS, KeyRecord
from benchmarks.keys_of_paths.key_tables import recording_text
from steelyard.analysis.tables.figure_values import MarkedViolin, ViolinFigure
from steelyard.report.drawings.violins import VIOLINS
from steelyard.report.plots.plot_files import STYLE
from steelyard.report.plots.plot_style import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANGUAGES = ("C++", "C")
_OUTCOMES = (
    ("resolved", "#0072B2"), ("ambiguous", "#B8860B"), ("wrong", "#D55E00"),
    ("missing", "#c9ced6"),
)  # fmt: skip
_MOST_CANDIDATES = 10
_LINES = ("-", "--", ":", "-.")


def draw_all(found: Sequence[KeyRecord], folder: str) -> list[str]:
    """Write every figure as PNG and SVG, and give the paths; nothing where nothing was measured."""
    if not found:
        return []
    as_is, sized, wrapped = KINDS
    drawn: dict[str, Callable[[Figure], None]] = {
        "5.2": lambda canvas: _bars(canvas, found, as_is, "offline", "unchanged, one input"),
        "5.7": lambda canvas: _bars(canvas, found, wrapped, "offline", "changed, one input"),
        "5.8": lambda canvas: _lines(canvas, found, wrapped, "offline"),
        "5.9": lambda canvas: _bars(canvas, found, wrapped, "online", "changed, another input"),
        "5.10": lambda canvas: _lines(canvas, found, wrapped, "online"),
        "5.11": lambda canvas: _bars(canvas, found, as_is, "offline", "unchanged, one input"),
        "5.12": lambda canvas: _bars(canvas, found, as_is, "online", "unchanged, another input"),
        "resized-offline": lambda canvas: _bars(
            canvas, found, sized, "offline", "larger frames alone, one input"
        ),
    }
    if any(len(one.plain_run_s) > 1 for one in found):
        drawn["5.6"] = lambda canvas: _violins(canvas, found)
    return [path for name, draw in drawn.items() for path in _written(draw, folder, name)]


def _written(draw: Callable[[Figure], None], folder: str, name: str) -> list[str]:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(dpi=110)
        FigureCanvasAgg(figure)
        draw(figure)
        paths = [os.path.join(folder, f"figure-{name}.{suffix}") for suffix in ("png", "svg")]
        for path in paths:
            figure.savefig(path)
    return paths


def _panels(canvas: Figure, found: Sequence[KeyRecord]) -> list[tuple[Axes, str, list[KeyRecord]]]:
    """A drawing for each language that is there, as wide as it has programs."""
    groups = [
        (language, [one for one in found if one.language == language]) for language in LANGUAGES
    ]
    groups = [(language, records) for language, records in groups if records]
    widths = [len(records) + 2 for _, records in groups]
    canvas.set_size_inches(max(4.8, 0.36 * sum(widths) + 1.6), 4.0)
    axes: Any = canvas.subplots(1, len(groups), squeeze=False, width_ratios=widths, sharey=True)[0]
    return [(axes[at], language, records) for at, (language, records) in enumerate(groups)]


def _bars(canvas: Figure, found: Sequence[KeyRecord], kind: str, scenario: str, title: str) -> None:
    """A bar a program and one for their mean, of outcomes on each other."""
    panels = _panels(canvas, found)
    for axes, language, records in panels:
        bottoms = [0.0] * (len(records) + 1)
        axes.set_title(language)
        for word, color in _OUTCOMES:
            parts = [getattr(one.shares[kind][scenario], word) for one in records]
            parts = [*parts, fmean(parts)]
            axes.bar(range(len(parts)), parts, 0.72, bottom=bottoms, color=color)
            bottoms = [low + part for low, part in zip(bottoms, parts, strict=True)]
        _name(axes, [*(one.name for one in records), "mean"])
        axes.set_ylim(0, 1)
        axes.grid(visible=False, axis="x")
    panels[0][0].set_ylabel(f"paths, {scenario}")
    canvas.suptitle(title, fontsize=9.5)
    for word, color in _OUTCOMES:
        panels[0][0].bar([0], [0], color=color, label=word)
    canvas.legend(loc="outside lower center", ncols=len(_OUTCOMES), frameon=False)


def _name(axes: Axes, names: Sequence[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=55, ha="right", rotation_mode="anchor")


def _lines(canvas: Figure, found: Sequence[KeyRecord], kind: str, scenario: str) -> None:
    """How many paths have at most so many candidates: a line a program."""
    panels = _panels(canvas, found)
    canvas.set_size_inches(4.6 * len(panels) + 0.6, 4.4)
    counts = range(1, _MOST_CANDIDATES + 1)
    for axes, language, records in panels:
        for at, one in enumerate(records):
            shares = one.shares[kind][scenario]
            axes.plot(
                counts, [shares.at_most(count) for count in counts], marker=".", label=one.name,
                color=PALETTE[at % len(PALETTE)], linestyle=_LINES[at // len(PALETTE) % 4],
            )  # fmt: skip
        axes.set_title(f"{language}: candidates of paths, {scenario}")
        axes.set_xticks(counts)
        axes.set_xlabel("candidates, at most")
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False, fontsize=6.5, ncols=2, loc="lower right")
    panels[0][0].set_ylabel("paths")


def _violins(canvas: Figure, found: Sequence[KeyRecord]) -> None:
    """Runs of each program while keys are recorded, as ratios to the median of plain runs."""
    violins: list[MarkedViolin] = []
    for one in found:
        middle = median(one.plain_run_s) if one.plain_run_s else 0.0
        if middle > 0 and len(one.plain_run_s) > 1:
            for word, times in (("original", one.plain_run_s), ("with keys", one.sampled_run_s)):
                label = f"{one.name}, {word}"
                if word != "original":
                    label += f": {recording_text(one)}"
                violins.append(MarkedViolin(label, tuple(time / middle for time in times)))
    shown = ViolinFigure(
        "Recording keys, by setups of the environment", "times the median of plain runs",
        tuple(violins), 1.0,
    )  # fmt: skip
    VIOLINS.draw(shown, canvas)
    canvas.set_size_inches(max(4.8, 1.4 + 0.34 * len(violins)), 5.2)
    axes = canvas.axes[0]
    _name(axes, [violin.label for violin in violins])
    axes.tick_params(axis="x", labelsize=6.5)
