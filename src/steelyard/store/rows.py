"""Experiments as rows of the store's tables, and rows as experiments."""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.core.json_codec import to_json
from steelyard.core.model import Trial

DOUBLE_BYTES = 8
# Above this many iterations an array takes a quarter of a tuple's memory and loads faster.
ARRAY_COUNT = 16


def dump_json(value: Any) -> str:
    """Compact ASCII: bytes that are not UTF-8 live as surrogates, which SQLite cannot hold."""
    return json.dumps(to_json(value), separators=(",", ":"))


def pack_values(values: Sequence[float]) -> bytes:
    """Little-endian IEEE 754 doubles."""
    doubles = values if isinstance(values, array) and values.typecode == "d" else None
    if doubles is None:
        doubles = array("d", values)
    if sys.byteorder == "big":
        doubles = array("d", doubles)
        doubles.byteswap()
    return doubles.tobytes()


def unpack_values(data: bytes) -> Sequence[float]:
    """What `pack_values` packed: a tuple, or an array where there are many."""
    count = len(data) // DOUBLE_BYTES
    if count <= ARRAY_COUNT:
        return struct.unpack(f"<{count}d", data)
    doubles = array("d")
    doubles.frombytes(data)
    if sys.byteorder == "big":
        doubles.byteswap()
    return doubles


def trial_row(trial: Trial, identity: int, experiment_id: int) -> dict[str, Any]:
    """The row of a trial; its measurements are rows of their own."""
    return {
        "id": identity,
        "experiment_id": experiment_id,
        "position": trial.position,
        "block": trial.block,
        "variant": trial.variant,
        "build": trial.build,
        "warmup": trial.warmup,
        "status": trial.status,
        "reason": trial.reason,
        "started_unix_s": trial.started_unix_s,
        "spent_s": trial.spent_s,
        "realised": dump_json(trial.realised),
        "details": dump_json(trial.details),
        "levels": dump_json(trial.levels),
    }


def measurement_rows(trial: Trial, identity: int) -> list[dict[str, Any]]:
    """One row a metric that the trial has."""
    return [
        {"trial_id": identity, "metric": metric, "values_f64le": pack_values(values)}
        for metric, values in trial.measurements.items()
    ]


class TrialReader:
    """Makes trials of rows. Equal JSON texts are read once: most trials have the same ones."""

    def __init__(self) -> None:
        self._objects: dict[str, Mapping[str, Any]] = {}

    def _object(self, text: str) -> Mapping[str, Any]:
        known = self._objects.get(text)
        if known is None:
            known = self._objects[text] = json.loads(text)
        return known

    def trial(self, row: Any, measurements: Mapping[str, Sequence[float]]) -> Trial:
        """The trial of a row of `trials`."""
        return Trial(
            position=row.position,
            block=row.block,
            variant=row.variant,
            build=row.build,
            warmup=row.warmup,
            status=row.status,
            reason=row.reason,
            started_unix_s=row.started_unix_s,
            spent_s=row.spent_s,
            measurements=measurements,
            realised=self._object(row.realised),
            details=self._object(row.details),
            levels=() if row.levels == "[]" else tuple(json.loads(row.levels)),
        )
