"""Tracks, and what became of added values, as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.report.kinds.tracks.track_facts import AdditionTold, TrackTold
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table


def addition_text(told: AdditionTold) -> str:
    """A line for each source; ends with a newline."""
    lines = [
        f"{one_line(source.name)}: {_counted(source.new_count, 'new value')} in "
        f"{_counted(source.tracks, 'track')}"
        + (f", {source.known_count} known already" if source.known_count else "")
        for source in told.sources
    ]
    where = f"Repository: {told.repository}" if told.repository else "No repository"
    branch = f", branch {told.branch}" if told.branch else ""
    return "\n".join([*lines, f"{where}{branch}."]) + "\n"


def tracks_text(tracks: Sequence[TrackTold], width: int | None = None) -> str:
    """A table of the tracks; ends with a newline."""
    headers = ("benchmark", "metric", "host", "branch", "unit", "values")
    rows = tuple(
        (
            one_line(track.benchmark),
            one_line(track.metric),
            one_line(track.host),
            one_line(track.branch),
            one_line(track.unit),
            str(track.value_count),
        )
        for track in tracks
    )
    return "\n".join(plain_table(Table(headers, rows, frozenset(range(5))), width)) + "\n"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count != 1]}"
