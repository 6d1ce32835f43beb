"""Trials as chunks of columns: what a million of them take, and how long they take to be read.

A row for each trial and metric took 630 bytes a trial, most of it texts that are alike and keys of
indices. In a chunk each field is a column, and each text is there once.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from steelyard.core.experiment_results import FailureReason, Trial, TrialStatus
from steelyard.core.json_codec import to_json
from steelyard.core.trial_columns import SharedColumn, ValueColumn
from steelyard.core.trial_table import REASONS, STATUSES, TrialTable
from steelyard.store.packed_columns import PackedColumns, pack_columns

CHUNK_TRIALS = 8192
# Values of all metrics together: 32 MB. SQLite takes up to 1 GB in one place.
CHUNK_VALUES = 1 << 22
# Values and counts that an experiment's chunks may claim for each of their bytes: a column that is
# constant claims any number of them in a few bytes. A value of measurements takes 8 bytes.
CLAIMED_PER_BYTE = 8
FEW_CLAIMED = 1 << 22
_INDICES = ("position", "block", "variant", "build")
_TIMES = ("started_unix_s", "spent_s")
_PLAIN = (*_INDICES, "warmup", "status", "reason", *_TIMES)
_TEXTS = ("realised", "details", "levels")


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
        texts = {name: list(known) for name, known in self._texts.items()}
        about = {**texts, "metrics": list(self._series), "count": self.count}
        packed = pack_columns(columns, about)
        claimed = self.value_count + self.count * len(self._series)
        # Whoever reads it refuses more than its bytes can hold.
        is_small = claimed <= CLAIMED_PER_BYTE * len(packed)
        return packed if is_small else pack_columns(columns, about, whole=True)


def status_number(status: TrialStatus) -> int:
    """The number that stands for a status."""
    return STATUSES.index(status)


def reason_number(reason: FailureReason | None) -> int:
    """The number that stands for the reason of a failure."""
    return REASONS.index(reason)


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


def positions_of(data: bytes) -> Sequence[int]:
    """The positions of the trials of a chunk.

    Raises
    ------
    ValueError
        The chunk is damaged.
    """
    packed = PackedColumns(data)
    return _positions(packed, _count(packed))


def _positions(packed: PackedColumns, count: int) -> array[int]:
    """Each takes a byte or more of the chunk, for no two are the same."""
    found = packed.whole("position", count)
    if len(set(found)) < count:
        raise ValueError("two trials are at one position")
    return found


def _count(packed: PackedColumns) -> int:
    count = packed.about.get("count")
    if not isinstance(count, int) or not 0 <= count <= CHUNK_TRIALS:
        raise ValueError(f"it says to hold {count!r} trials")
    return count


class ChunkReader:
    """Makes tables of trials of an experiment's chunks. Texts that are alike are decoded once.

    Parameters
    ----------
    variant_count : int
        Of the experiment.
    """

    def __init__(self, variant_count: int) -> None:
        self._variant_count = variant_count
        # What was realised and the details of a trial may be alike.
        self._objects: dict[str, Mapping[str, Any]] = {}
        self._levels: dict[str, tuple[int, ...]] = {}
        # Of all chunks so far.
        self._byte_count = self._trial_count = self._value_count = 0
        self._metrics: set[str] = set()

    def trials(self, data: bytes) -> TrialTable:
        """The trials of a chunk.

        Raises
        ------
        ValueError, KeyError, TypeError
            The chunk is damaged, holds what no trial can, or claims far more values than the bytes
            of all chunks so far can hold.
        """
        packed = PackedColumns(data)
        count = _count(packed)
        self._byte_count += len(data)
        self._trial_count += count
        whole = {name: packed.whole(name, count) for name in _INDICES[1:]}
        warmup = packed.whole("warmup", count, "b")
        _check_within(whole["variant"], 0, self._variant_count - 1, "variant")
        _check_within(warmup, 0, 1, "warmup")
        times = [_finite(packed.doubles(name, count), name) for name in _TIMES]
        return TrialTable(
            position=_positions(packed, count),
            **whole,
            warmup=warmup,
            status=_coded(packed, "status", len(STATUSES), "b"),
            reason=_coded(packed, "reason", len(REASONS), "b"),
            started_unix_s=times[0],
            spent_s=times[1],
            realised=self._shared(packed, "realised", self._objects, partial(_object, "realised")),
            details=self._shared(packed, "details", self._objects, partial(_object, "details")),
            levels=self._shared(packed, "levels", self._levels, _levels),
            measurements=self._measurements(packed, count),
        )

    def _measurements(self, packed: PackedColumns, count: int) -> dict[str, ValueColumn]:
        names = packed.about["metrics"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("its metrics are no list of names")
        self._metrics.update(names)
        return {name: self._series(packed, place, count) for place, name in enumerate(names)}

    def _series(self, packed: PackedColumns, place: int, count: int) -> ValueColumn:
        """The iterations of each trial; -1 of them where it lacks the metric."""
        counts = packed.whole(f"count {place}", count, "q")
        _check_within(counts, -1, CHUNK_VALUES * CHUNK_TRIALS, f"count {place}")
        least = min(counts, default=1)
        total = sum(counts) if least >= 0 else sum(own for own in counts if own > 0)
        self._value_count += total
        self._check_claimed()
        values = _finite(packed.doubles(f"value {place}", total), f"value {place}")
        return ValueColumn(values, None if total == count and least == 1 else counts)

    def _check_claimed(self) -> None:
        """Refuse what fills the memory, before it does."""
        claimed = self._value_count + self._trial_count * len(self._metrics)
        if claimed > FEW_CLAIMED + CLAIMED_PER_BYTE * self._byte_count:
            raise ValueError(
                f"its columns claim {claimed:,} values and counts in {self._byte_count:,} bytes"
            )

    def _shared(
        self, packed: PackedColumns, name: str, read: dict[str, Any], decode: Callable[[str], Any]
    ) -> SharedColumn:
        """The values of a column of texts; `read` has those that were decoded before."""
        known: list[Any] = []
        for text in packed.about[name]:
            if text not in read:
                read[text] = decode(text)
            known.append(read[text])
        return SharedColumn(_coded(packed, name, len(known), "i"), known)


def _object(name: str, text: str) -> Mapping[str, Any]:
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


def _finite(values: array[float], name: str) -> array[float]:
    # The sum of values is finite where all are, but for sums beyond the range of floats.
    if not math.isfinite(sum(values)) and not all(map(math.isfinite, values)):
        raise ValueError(f"{name} is not finite")
    return values


def _coded(packed: PackedColumns, name: str, known_count: int, typecode: str) -> array[int]:
    codes = packed.whole(name, _count(packed), typecode)
    _check_within(codes, 0, known_count - 1, name)
    return codes
