"""gprof: a histogram of the program counter that the C library fills, of programs built with -pg.

The file is that of glibc's gmon/gmon.c: a head, then records of a histogram (tag 0), of an arc of
the call graph (1) or of counts of basic blocks (2). What `gprof` prints is computed from the same
numbers; read here, they need no rounding and no gprof.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.core.errors import DataError, UsageError
from steelyard.profile.executable import FunctionNames, executable_of, is_gprof_build
from steelyard.profile.profilers import (
    Launch,
    Profiler,
    Reading,
    profile_bytes,
    profile_files,
    shares_of,
)

_HEAD = struct.Struct("<4sI12x")
_HISTOGRAM = struct.Struct("<QQII15sc")
_ARC = struct.Struct("<QQI")
_BLOCKS = struct.Struct("<I")
_BLOCK_BYTES = 16
_TAG_HISTOGRAM, _TAG_ARC, _TAG_BLOCKS = 0, 1, 2


def _require(argv: Sequence[str]) -> None:
    if argv and not is_gprof_build(executable_of(argv)):
        raise UsageError(
            f"{argv[0]} was not built for gprof: it writes no profile. Compile and link it with "
            "-pg.",
            field="--profiler",
        )


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    return Launch(tuple(argv), {"GMON_OUT_PREFIX": path})


def _read(path: str, argv: Sequence[str]) -> Reading:
    functions = FunctionNames(executable_of(argv))
    _require(argv)
    counts: dict[str, float] = {}
    calls: set[tuple[str, str]] = set()
    # glibc adds the number of each process that was profiled.
    for part in profile_files(path, "."):
        data = profile_bytes(part)
        try:
            for place, count in _histogram_of(data):
                name = functions.at(place)
                counts[name] = counts.get(name, 0.0) + count
            calls |= {
                (functions.at(caller), functions.at(callee)) for caller, callee in _arcs_of(data)
            }
        except (struct.error, ValueError) as error:
            raise DataError(
                f"{part} is not a profile of gprof, or was cut off: {error}.", field="profile"
            ) from None
    return Reading(shares_of(counts, path), frozenset(calls))


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """The tag of each record, and where it begins behind that.

    Raises
    ------
    ValueError, struct.error
        The data is of another kind.
    """
    cookie, version = _HEAD.unpack_from(data)
    if cookie != b"gmon" or version != 1:
        raise ValueError("it does not begin as one")
    at = _HEAD.size
    while at < len(data):
        tag, begin = data[at], at + 1
        yield tag, begin
        if tag == _TAG_HISTOGRAM:
            at = begin + _HISTOGRAM.size + 2 * _HISTOGRAM.unpack_from(data, begin)[2]
        elif tag == _TAG_ARC:
            at = begin + _ARC.size
        elif tag == _TAG_BLOCKS:
            at = begin + _BLOCKS.size + _BLOCK_BYTES * _BLOCKS.unpack_from(data, begin)[0]
        else:
            raise ValueError(f"it has a record with the unknown tag {tag}")
        if at > len(data):
            raise ValueError("a record goes on behind its end")


def _histogram_of(data: bytes) -> Iterator[tuple[int, float]]:
    """The middle of each bin of addresses that was hit, and how often."""
    for tag, begin in _records(data):
        if tag != _TAG_HISTOGRAM:
            continue
        low, high, count, *_ = _HISTOGRAM.unpack_from(data, begin)
        bins = np.frombuffer(data, "<u2", count, begin + _HISTOGRAM.size)
        if count == 0 or high <= low:
            raise ValueError("its histogram has no width")
        width = (high - low) / count
        for index in np.flatnonzero(bins).tolist():
            yield low + int((index + 0.5) * width), float(bins[index])


def _arcs_of(data: bytes) -> Iterator[tuple[int, int]]:
    for tag, begin in _records(data):
        if tag == _TAG_ARC:
            caller, callee, _ = _ARC.unpack_from(data, begin)
            yield caller, callee


EXTENSION = Profiler(
    "gprof", "counts calls; samples every 10 ms of its time", "native", _require, _launch, _read
)
