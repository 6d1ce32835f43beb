"""What a track reader is: from another tool's text to values along revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steelyard.core.decoding import decoding
from steelyard.core.errors import DataError
from steelyard.core.registry import Registry
from steelyard.core.track_row import TrackRow
from steelyard.core.units import LARGEST_VALUE
from steelyard.harness.adapter import HEAD_CHARACTERS, Source


@dataclass(frozen=True)
class TrackFile:
    """The values of a file, in its order, and a sentence for each sort that was left out."""

    rows: tuple[TrackRow, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrackReader:
    """A way in which some tool keeps values along revisions.

    Parameters
    ----------
    name : str
        What ``--format`` takes.
    tool : str
        Whose files they are, as a person says it.
    description : str
        What exactly is read, in one sentence.
    recognises : callable
        Whether the first `HEAD_CHARACTERS` of a text look like it. Narrow: it is asked of every
        other tool's files too.
    read : callable
        Gives the values of a `Source`. Raises DataError that names the file and the field or line.
    """

    name: str
    tool: str
    description: str
    recognises: Callable[[str], bool]
    read: Callable[[Source], TrackFile]


def read_track_file(reader: TrackReader, source: Source) -> TrackFile:
    """What `reader` finds in `source`.

    Raises
    ------
    DataError
        The text is empty, is not what the tool writes, or holds no value; or a value is too large
        to be reckoned with, a time is negative, or an interval does not hold its value.
    """
    if not source.text.strip():
        raise DataError(f"{source.name} is empty, so it holds no values.", field="file")
    with decoding(f"{source.name} is not what {reader.tool} writes"):
        found = reader.read(source)
    if not found.rows:
        more = f": {found.left_out[0]}" if found.left_out else "."
        raise DataError(f"{source.name} holds no value{more}", field="file")
    for fault in _faults(found):
        raise DataError(f"{source.name}: {fault}", field="value")
    return found


def recognised_reader(text: str, readers: Registry[TrackReader]) -> TrackReader | None:
    """The reader whose tool's files `text` looks like."""
    head = text[:HEAD_CHARACTERS]
    return next((reader for reader in readers if reader.recognises(head)), None)


def left_out_sentence(count: int, what: str) -> tuple[str, ...]:
    """How many values of a file were left out, and why; nothing where none were."""
    if not count:
        return ()
    return (f"{count} value{'s'[: count > 1]} left out: {what}.",)


def _faults(found: TrackFile) -> Iterator[str]:
    """What cannot be of a value; NaN is in no interval."""
    for row in found.rows:
        low = row.value if row.low is None else row.low
        high = row.value if row.high is None else row.high
        what = f"{row.metric} of {row.benchmark!r} at {row.revision or 'its revision'}"
        if not -LARGEST_VALUE <= row.value <= LARGEST_VALUE:
            yield f"{what} must be a finite number below 1e+150, not {row.value:g}."
        elif row.unit == "s" and row.value < 0:
            yield f"{what} must be 0 or above, as a time, not {row.value:g}."
        elif not -LARGEST_VALUE <= low <= row.value <= high <= LARGEST_VALUE:
            yield f"{what} must lie in its interval: {row.value:g} is not in {low:g} to {high:g}."
