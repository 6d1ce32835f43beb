"""Values along revisions from a file: of a tool that keeps a history, or of single experiments."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from steelyard.app.history.experiment_rows import (
    ALL_METRICS,
    experiment_rows,
    without_values,
)
from steelyard.core.decoding import decoding, open_regular
from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_check import check_experiment
from steelyard.core.track_row import TrackRow
from steelyard.harness.adapter import Source, text_of
from steelyard.harness.track_reader import read_track_file, recognised_reader
from steelyard.harness.track_readers import TRACK_READERS
from steelyard.store.file_format import FileFormat, detect_format, reader_of
from steelyard.store.formats import FORMATS
from steelyard.store.gzip_content import gzip_content
from steelyard.store.whole_file import file_errors

# A file of a million values takes some 100 MB; a compressed one could claim any size.
LARGEST_BYTES = 2 << 30
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class SourceValues:
    """The values of one file or experiment.

    `source` is what they are known by: a digest of the file, or the experiment's identifier;
    `name` is what a person calls it.
    """

    name: str
    source: str
    rows: list[TrackRow]
    left_out: tuple[str, ...] = ()


def read_source_file(
    path: str, format_name: str | None, metrics: Sequence[str] = ()
) -> SourceValues:
    """The values of a file.

    Parameters
    ----------
    path : str
        It may be compressed by gzip.
    format_name : str or None
        A track reader or a file format of experiments; None finds it by the content.
    metrics : sequence of str
        Those to take; none takes all of a track reader's and the first of an experiment's.

    Raises
    ------
    DataError
        The file is not what it should be.
    UsageError
        There is no such format, or no value of the metrics.
    """
    data = _content(path)
    source = Source(text_of(data), path)
    digest = f"sha256:{sha256(data).hexdigest()}"
    reader = (
        recognised_reader(source.text, TRACK_READERS)
        if format_name is None
        else TRACK_READERS.get(format_name)
        if format_name in TRACK_READERS
        else None
    )
    if reader is not None:
        found = read_track_file(reader, source)
        rows = [row for row in found.rows if _is_wanted(row, metrics)]
        if not rows:
            known = ", ".join(sorted({row.metric for row in found.rows}))
            raise UsageError(
                f"{path} has no value of {', '.join(metrics)}, but of {known}.", field="--metric"
            )
        return SourceValues(path, digest, rows, found.left_out)
    rows, left_out = _experiment_rows(path, format_name, metrics)
    return SourceValues(path, digest, rows, left_out)


def source_paths(path: str) -> Iterator[str]:
    """`path` itself, or the files in and below it where it is a directory, in a fixed order."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(names) if name[:1] != ".")


def format_names() -> list[str]:
    """The names of all formats that can be read."""
    readable = {known.name for known in FORMATS if known.read is not None}
    return sorted(readable | set(TRACK_READERS.names()))


def _is_wanted(row: TrackRow, metrics: Sequence[str]) -> bool:
    return not metrics or row.metric in metrics or ALL_METRICS in metrics


def _experiment_rows(
    path: str, format_name: str | None, metrics: Sequence[str]
) -> tuple[list[TrackRow], tuple[str, ...]]:
    """The values of a file of an experiment, and what has none."""
    chosen = _format(path, format_name)
    with decoding(f"{path} is not what {chosen.name} is"):
        experiment = reader_of(chosen)(path)
    try:
        check_experiment(experiment)
        rows = experiment_rows(experiment, metrics)
    except DataError as error:
        raise DataError(f"{path}: {error.message}", field=error.field) from None
    # Times of change of a file say nothing, and would make a copy of it another one.
    kept = [replace(row, measured_unix_s=None) for row in rows]
    return kept, without_values(experiment, rows)


def _format(path: str, format_name: str | None) -> FileFormat:
    if format_name is not None:
        if format_name not in FORMATS:
            raise UsageError(
                f"There is no format {format_name!r}. Known: {', '.join(format_names())}.",
                field="--format",
            )
        return FORMATS.get(format_name)
    try:
        return detect_format(path, FORMATS)
    except DataError as error:
        if "looks like none" not in error.message:
            raise
        raise DataError(
            f"{path} looks like none of the formats that can be read. Name one with --format: "
            f"{', '.join(format_names())}.",
            field="file",
        ) from None


def _content(path: str) -> bytes:
    with file_errors(path, "read"):
        with open(open_regular(path), "rb") as file:
            data = file.read(LARGEST_BYTES + 1)
        if data.startswith(_GZIP_MAGIC):
            data = gzip_content(path)
    if len(data) > LARGEST_BYTES:
        raise DataError(f"{path} is larger than {LARGEST_BYTES >> 30} GiB. Split it.", field="file")
    return data
