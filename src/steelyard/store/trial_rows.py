"""Rows of trials and measurements, as stores up to version 2 have them, as chunks."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from steelyard.core.errors import StoreError
from steelyard.store.trial_chunk import ChunkWriter, reason_number, status_number

ROWS = """
SELECT t.id, t.experiment_id, t.position, t.block, t.variant, t.build, t.warmup, t.status, t.reason,
    t.started_unix_s, t.spent_s, t.realised, t.details, t.levels, m.metric, m.values_f64le
FROM trials AS t LEFT JOIN measurements AS m ON m.trial_id = t.id
ORDER BY t.id
"""
_DOUBLE = struct.Struct("<d")
_FAULTS = (ArithmeticError, AttributeError, TypeError, ValueError, struct.error)


def chunks_of_rows(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, int, bytes]]:
    """The rows of `ROWS` as chunks, each with its experiment's number and the count of its trials.

    Raises
    ------
    StoreError
        A row is none that Steelyard wrote; the message names the trial.
    """
    writers: dict[int, ChunkWriter] = {}
    for _, own in groupby(rows, key=_trial_id):
        first, *others = own
        experiment = first[1]
        writer = writers.get(experiment)
        if writer is None:
            writer = writers[experiment] = ChunkWriter()
        try:
            _add(writer, first, others)
        except _FAULTS as error:
            raise StoreError(
                f"The trial {first[2]} of experiment number {experiment} of the store is damaged: "
                f"{error}. Move the store away, or delete the experiment with the Steelyard that "
                "wrote it.",
                field="--store",
            ) from None
        if writer.is_full:
            yield experiment, writer.count, writer.packed()
            del writers[experiment]
    for experiment, writer in writers.items():
        yield experiment, writer.count, writer.packed()


def _trial_id(row: Sequence[Any]) -> Any:
    return row[0]


def _add(writer: ChunkWriter, row: Sequence[Any], others: Sequence[Sequence[Any]]) -> None:
    status, reason = status_number(row[7]), reason_number(row[8])
    plain = (*map(int, row[2:7]), status, reason, float(row[9]), float(row[10]))
    measurements: dict[str, Sequence[float]] = {}
    for metric, data in (row[14:], *(other[14:] for other in others)):
        if metric is not None:
            single = len(data) == _DOUBLE.size
            measurements[metric] = _DOUBLE.unpack(data) if single else _doubles(data)
    writer.add(plain, row[11:14], measurements)


def _doubles(data: bytes) -> array[float]:
    found = array("d")
    found.frombytes(data)
    if sys.byteorder == "big":
        found.byteswap()
    return found
