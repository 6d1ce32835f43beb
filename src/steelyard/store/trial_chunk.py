"""Trials as chunks of columns: what a million of them take, and how long they take to be read.

A row for each trial and metric took 630 bytes a trial, most of it texts that are alike and keys of
indices. In a chunk each field is a column, and each text is there once.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from typing import Any, get_args

from steelyard.core.experiment_results import FailureReason, Trial, TrialStatus
from steelyard.core.json_codec import to_json
from steelyard.store.packed_columns import PackedColumns, pack_columns

CHUNK_TRIALS = 8192
# Values of all metrics together: 32 MB. SQLite takes up to 1 GB in one place.
CHUNK_VALUES = 1 << 22
# Above this many iterations an array takes a quarter of a tuple's memory and loads faster.
ARRAY_COUNT = 16
_INDICES = ("position", "block", "variant", "build")
_TIMES = ("started_unix_s", "spent_s")
_PLAIN = (*_INDICES, "warmup", "status", "reason", *_TIMES)
_TEXTS = ("realised", "details", "levels")
_STATUSES: tuple[TrialStatus, ...] = get_args(TrialStatus)
_REASONS: tuple[FailureReason | None, ...] = (None, *get_args(FailureReason))


def dump_json(value: Any) -> str:
    """Compact ASCII: bytes that are not UTF-8 live as surrogates, which SQLite cannot hold."""
    return json.dumps(to_json(value), separators=(",", ":"))


class ChunkWriter:
    """Gathers the fields of trials in columns."""

    def __init__(self) -> None:
        self.count = 0
        self.value_count = 0
        self._plain: dict[str, list[Any]] = {name: [] for name in _PLAIN}
        self._texts: dict[str, dict[str, int]] = {name: {} for name in _TEXTS}
        self._coded: dict[str, list[int]] = {name: [] for name in _TEXTS}
        self._series: dict[str, tuple[list[int], array[float]]] = {}

    @property
    def is_full(self) -> bool:
        """Whether the next trial belongs into another chunk."""
        return self.count >= CHUNK_TRIALS or self.value_count >= CHUNK_VALUES

    def add(
        self,
        plain: Sequence[Any],
        texts: Sequence[str],
        measurements: Mapping[str, Sequence[float]],
    ) -> None:
        """Take a trial.

        Parameters
        ----------
        plain : sequence
            Position, block, variant, build, warm-up, the numbers of status and reason
            (`status_number`, `reason_number`), start and time spent in seconds.
        texts : sequence of str
            JSON of what was realised, of the details and of the levels.
        measurements : mapping of metric to values
        """
        for name, value in zip(_PLAIN, plain, strict=True):
            self._plain[name].append(value)
        for name, text in zip(_TEXTS, texts, strict=True):
            known = self._texts[name]
            self._coded[name].append(known.setdefault(text, len(known)))
        for metric, values in measurements.items():
            found = self._series.get(metric)
            if found is None:
                found = self._series[metric] = ([], array("d"))
            counts, gathered = found
            counts.extend(repeat(-1, self.count - len(counts)))
            counts.append(len(values))
            gathered.extend(values)
            self.value_count += len(values)
        self.count += 1

    def add_trial(self, trial: Trial) -> None:
        """Take a trial."""
        plain = (
            *(trial.position, trial.block, trial.variant, trial.build, int(trial.warmup)),
            *(status_number(trial.status), reason_number(trial.reason)),
            *(trial.started_unix_s, trial.spent_s),
        )
        texts = [dump_json(getattr(trial, name)) for name in _TEXTS]
        self.add(plain, texts, trial.measurements)

    def packed(self) -> bytes:
        """The chunk."""
        columns: dict[str, Any] = {**self._plain, **self._coded}
        for name in _TIMES:
            columns[name] = array("d", columns[name])
        for place, (counts, values) in enumerate(self._series.values()):
            # A metric that is there without a value differs from one that is not there.
            counts.extend(repeat(-1, self.count - len(counts)))
            columns[f"count {place}"] = counts
            columns[f"value {place}"] = values
        about = {name: list(known) for name, known in self._texts.items()}
        return pack_columns(columns, {**about, "metrics": list(self._series), "count": self.count})


def status_number(status: TrialStatus) -> int:
    """The number that stands for a status."""
    return _STATUSES.index(status)


def reason_number(reason: FailureReason | None) -> int:
    """The number that stands for the reason of a failure."""
    return _REASONS.index(reason)


def chunks_of(trials: Iterable[Trial]) -> Iterator[tuple[int, bytes]]:
    """The trials in chunks, each with the number of its trials."""
    writer = ChunkWriter()
    for trial in trials:
        if writer.is_full:
            yield writer.count, writer.packed()
            writer = ChunkWriter()
        writer.add_trial(trial)
    if writer.count:
        yield writer.count, writer.packed()


def positions_of(data: bytes) -> list[int]:
    """The positions of the trials of a chunk.

    Raises
    ------
    ValueError
        The chunk is damaged.
    """
    packed = PackedColumns(data)
    return packed.column("position", _count(packed))


def _count(packed: PackedColumns) -> int:
    count = packed.about.get("count")
    if not isinstance(count, int) or not 0 <= count <= CHUNK_TRIALS:
        raise ValueError(f"it says to hold {count!r} trials")
    return count


class ChunkReader:
    """Makes trials of chunks. Texts that are alike are decoded once.

    Parameters
    ----------
    variant_count : int
        Of the experiment.
    """

    def __init__(self, variant_count: int) -> None:
        self._variant_count = variant_count
        self._objects: dict[str, Mapping[str, Any]] = {}
        self._levels: dict[str, tuple[int, ...]] = {}

    def trials(self, data: bytes) -> list[Trial]:
        """The trials of a chunk.

        Raises
        ------
        ValueError, KeyError, TypeError
            The chunk is damaged, or holds what no trial can.
        """
        packed = PackedColumns(data)
        count = _count(packed)
        whole = {name: packed.column(name, count) for name in (*_INDICES, "warmup")}
        _check_within(whole["variant"], 0, self._variant_count - 1, "variant")
        _check_within(whole["warmup"], 0, 1, "warmup")
        times = [_finite(packed.column(name, count, whole=False), name) for name in _TIMES]
        return list(
            map(
                Trial,
                whole["position"],
                whole["block"],
                whole["variant"],
                map(bool, whole["warmup"]),
                _coded(packed, "status", count, _STATUSES),
                _coded(packed, "reason", count, _REASONS),
                *times,
                _measurements(packed, count),
                whole["build"],
                _coded(packed, "realised", count, self._read_objects(packed, "realised")),
                _coded(packed, "details", count, self._read_objects(packed, "details")),
                _coded(packed, "levels", count, self._read_levels(packed)),
            )
        )

    def _read_objects(self, packed: PackedColumns, name: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for text in packed.about[name]:
            known = self._objects.get(text)
            if known is None:
                known = self._objects[text] = _object(text, name)
            found.append(known)
        return found

    def _read_levels(self, packed: PackedColumns) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        for text in packed.about["levels"]:
            known = self._levels.get(text)
            if known is None:
                known = self._levels[text] = _levels(text)
            found.append(known)
        return found


def _object(text: str, name: str) -> Mapping[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no object")
    return value


def _levels(text: str) -> tuple[int, ...]:
    value = json.loads(text)
    if not isinstance(value, list) or not all(type(level) is int for level in value):
        raise ValueError("levels is no list of whole numbers")
    return tuple(value)


def _check_within(values: Sequence[int], least: int, greatest: int, name: str) -> None:
    if values and not (least <= min(values) and max(values) <= greatest):
        raise ValueError(f"{name} is not from {least} to {greatest}")


def _finite(values: list[float], name: str) -> list[float]:
    # The sum of values is finite where all are, but for sums beyond the range of floats.
    if not math.isfinite(sum(values)) and not all(map(math.isfinite, values)):
        raise ValueError(f"{name} is not finite")
    return values


def _coded(packed: PackedColumns, name: str, count: int, known: Sequence[Any]) -> Iterable[Any]:
    codes = packed.column(name, count)
    _check_within(codes, 0, len(known) - 1, name)
    if len(known) == 1:
        return repeat(known[0], count)
    return map(known.__getitem__, codes)


def _measurements(packed: PackedColumns, count: int) -> list[dict[str, Sequence[float]]]:
    names = packed.about["metrics"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("its metrics are no list of names")
    series = [_series(packed, place, count) for place in range(len(names))]
    if not names:
        return [{} for _ in range(count)]
    if all(column is not None and None not in column for column in series):
        return [dict(zip(names, own, strict=True)) for own in zip(*series, strict=True)]
    return [
        {name: values for name, values in zip(names, own, strict=True) if values is not None}
        for own in zip(*series, strict=True)
    ]


def _series(packed: PackedColumns, place: int, count: int) -> list[Any]:
    """The iterations of each trial; None where it lacks the metric."""
    counts = packed.column(f"count {place}", count)
    _check_within(counts, -1, CHUNK_VALUES * CHUNK_TRIALS, f"count {place}")
    total = sum(own for own in counts if own > 0)
    values = packed.doubles(f"value {place}", total)
    if total == count and min(counts, default=1) == 1:
        return list(zip(_finite(values.tolist(), f"value {place}")))
    _finite(values.tolist(), f"value {place}")
    ends = accumulate(max(0, own) for own in counts)
    return [
        None if own < 0 else _iterations(values[end - own : end])
        for own, end in zip(counts, ends, strict=True)
    ]


def _iterations(values: array[float]) -> Sequence[float]:
    return values if len(values) > ARRAY_COUNT else tuple(values)
