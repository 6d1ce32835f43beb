"""Slopes of a causality check as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.analysis.profiles.causality_slopes import Slope, SlopeVerdict
from steelyard.core.estimate import Estimate
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

_VERDICTS: Mapping[SlopeVerdict, str] = {
    "too-little": "wrong: it sees too little",
    "too-much": "wrong: it sees too much",
    "blames": "wrong: it blames what did not change",
}


def verdict_of(slope: Slope) -> str:
    """Whether the slope is what it should be, in words."""
    if slope.verdict in _VERDICTS:
        return _VERDICTS[slope.verdict]
    if slope.verdict == "right":
        return "actionable" if slope.role == "delayed" else "right to leave it alone"
    if not isinstance(slope.slope, Estimate):
        return f"not known: {slope.slope.explanation}"
    return f"not refuted; known to ± {slope.slope.half_width:.2f} only"


def causality_table(slopes: Sequence[Slope]) -> Table:
    """A row for each function and profiler; those that were delayed come first."""
    ordered = sorted(slopes, key=lambda item: (item.role != "delayed", item.delayed, item.profiler))
    rows = tuple(
        (
            one_line(slope.function),
            "itself" if slope.role == "delayed" else one_line(slope.delayed),
            slope.profiler,
            _slope_text(slope),
            str(slope.run_count),
            rest_text(slope),
            verdict_of(slope),
        )
        for slope in ordered
    )
    headers = ("function", "delayed", "profiler", "slope", "runs", "the rest", "so the profiler is")
    return Table(headers, rows, frozenset({0, 1, 2, 6}))


def rest_text(slope: Slope) -> str:
    """What everything but the delayed function did, in percent of itself."""
    found = slope.rest
    if slope.role != "delayed" or not isinstance(found, Estimate):
        return "–"
    return f"{100 * found.estimate:+.1f} % ({100 * found.low:+.1f} – {100 * found.high:+.1f})"


def _slope_text(slope: Slope) -> str:
    found = slope.slope
    if isinstance(found, Estimate):
        return f"{found.estimate:.2f} ({found.low:.2f} – {found.high:.2f})"
    return "–" if found.estimate is None else f"about {found.estimate:.1f}"


def causality_text(
    slopes: Sequence[Slope], width: int | None = None, cautions: Sequence[str] = ()
) -> str:
    """The table for a terminal, with what to know of its profilers; ends with a newline."""
    note = (
        "Slope: by how much more time the profiler gives to the function for each second that the "
        "program takes longer. 1 is right for the delayed function, 0 for any other.\n"
        "The rest: what all else took more under the largest delay, by this profiler; where "
        "several agree that it did, the delay disturbed the program."
    )
    told = (f"caution: {caution}" for caution in cautions)
    return "\n".join([*plain_table(causality_table(slopes), width), "", note, *told]) + "\n"
