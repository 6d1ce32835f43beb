"""Go's benchmark text with its revisions: ``commit: REVISION`` stands before what it is of.

The lines themselves are read by the adapter `benchfmt`; values of one benchmark and unit under
one revision are the trials of one value (benchstat does the same).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import fsum
from typing import NamedTuple

from steelyard.core.errors import DataError
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Series, Source
from steelyard.harness.adapters import benchfmt
from steelyard.harness.track_reader import TrackFile, TrackReader, left_out_sentence
from steelyard.harness.track_units import unix_time_of

_REVISION = re.compile(r"(?:commit|git-commit|revision|toolchain-commit):[ \t]*(\S+)[ \t]*")
_TIME = re.compile(r"commit-time:[ \t]*(\S.*?)[ \t]*")
_HOST = re.compile(r"(?:host|machine|builder):[ \t]*(\S.*?)[ \t]*")


class _Section(NamedTuple):
    """Lines that are of one revision, and what was said before them."""

    revision: str | None
    time_unix_s: float | None
    host: str | None
    text: str


def read(source: Source) -> TrackFile:
    """A value for each benchmark, unit and revision."""
    rows: list[TrackRow] = []
    failed = 0
    for section in _sections(source.text):
        if not benchfmt.EXTENSION.recognises(section.text):
            continue
        series = benchfmt.EXTENSION.read(Source(section.text, source.name))
        failed += sum(not item.values for item in series)
        rows += _rows(series, section)
    if not rows and not failed:
        raise DataError(
            f"{source.name} has no line such as `BenchmarkSort-8 1000 1234 ns/op`.", field="file"
        )
    return TrackFile(tuple(rows), left_out_sentence(failed, "the benchmark failed"))


def _sections(text: str) -> Iterator[_Section]:
    about: dict[str, str | None] = {"revision": None, "time": None, "host": None}
    patterns = {"revision": _REVISION, "time": _TIME, "host": _HOST}
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        for name, pattern in patterns.items():
            found = pattern.fullmatch(line)
            if found is not None and found[1] != about[name]:
                yield _section(about, lines)
                lines = []
                about[name] = found[1]
        lines.append(line)
    yield _section(about, lines)


def _section(about: dict[str, str | None], lines: list[str]) -> _Section:
    time = about["time"]
    # The line that follows has an end, so these lines have too.
    text = "\n".join(lines) if lines and not lines[-1] else "\n".join([*lines, ""])
    when = None if time is None else unix_time_of(time)
    return _Section(about["revision"], when, about["host"], text)


def _rows(series: tuple[Series, ...], section: _Section) -> Iterator[TrackRow]:
    grouped: dict[tuple[str, str], list[Series]] = {}
    for item in series:
        if item.values:
            grouped.setdefault((item.benchmark, item.metric), []).append(item)
    for (benchmark, metric), items in grouped.items():
        values = [value for item in items for value in item.values]
        yield TrackRow(
            benchmark,
            metric,
            items[0].unit,
            fsum(values) / len(values),
            items[0].direction,
            revision=section.revision,
            observations=tuple(values),
            trial_count=len(values),
            committed_unix_s=section.time_unix_s,
            host=section.host,
        )


EXTENSION = TrackReader(
    name="benchfmt",
    tool="`go test -bench`",
    description="Go's benchmark text; `commit:` before lines says what they are of.",
    recognises=benchfmt.recognises,
    read=read,
)
