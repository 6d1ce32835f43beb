"""The profile.proto of pprof, compressed.

Format: https://github.com/google/pprof/blob/main/proto/profile.proto; the field numbers are from
there. Protocol buffers are simple enough to write by hand: a varint of number and kind, a value.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterable

from steelyard.analysis.profiles.call_stacks import stack_counts
from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.report.profile_formats import ProfileFormat

_VARINT, _BYTES = 0, 2
_VARINT_BITS = 7


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 1 << _VARINT_BITS:
        parts.append(value & 0x7F | 0x80)
        value >>= _VARINT_BITS
    parts.append(value)
    return bytes(parts)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def _packed(field: int, values: Iterable[int]) -> bytes:
    return _message(field, b"".join(_varint(value) for value in values))


class _Strings:
    """The string table; its first entry must be empty."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def table(self) -> bytes:
        return b"".join(_message(6, text.encode("utf-8", "replace")) for text in self._numbers)


def render(answer: ProfileAnswer) -> bytes:
    """Samples and nanoseconds of each stack of each thread."""
    strings = _Strings()
    samples = answer.samples
    unit = answer.recorded.header.get("unit", "ns")
    period = round(float(answer.recorded.header.get("period", 0)))
    mapping = {name: number for number, name in enumerate(_objects(answer), 1)}
    clock = ("cpu", "nanoseconds") if unit == "ns" else (str(unit), "count")
    parts = [
        _message(1, _value_type(strings, "samples", "count")),
        _message(1, _value_type(strings, *clock)),
    ]
    for stack in stack_counts(samples):
        locations = _packed(1, (frame + 1 for frame in reversed(stack.frames)))
        values = _packed(2, (stack.sample_count, stack.sample_count * period))
        label = _message(3, _number(1, strings.number("thread")) + _number(3, stack.thread))
        parts.append(_message(2, locations + values + label))
    for name, number in mapping.items():
        content = _number(1, number) + _number(5, strings.number(name)) + _number(7, 1)
        parts.append(_message(3, content))
    for index, frame in enumerate(samples.frames):
        line = _message(4, _number(1, index + 1))
        parts.append(_message(4, _number(1, index + 1) + _number(2, mapping[frame.object]) + line))
        name = strings.number(frame.name)
        parts.append(_message(5, _number(1, index + 1) + _number(2, name) + _number(3, name)))
    period_type = _value_type(strings, *clock)
    duration_ns = int(answer.recorded.summary.get("elapsed_ns", 0))
    tail = _number(10, duration_ns) + _message(11, period_type) + _number(12, period)
    return gzip.compress(b"".join(parts) + strings.table() + tail, mtime=0)


def _objects(answer: ProfileAnswer) -> list[str]:
    """The files of functions, each once; the program comes first, as readers take the first for it.

    By its name where that is known, and else by its time, libraries last.
    """
    argv = answer.recorded.header.get("argv", [])
    name = os.path.basename(os.path.realpath(shutil.which(argv[0]) or argv[0])) if argv else ""
    counts = {frame.object: 0 for frame in answer.samples.frames}
    for share in answer.functions:
        counts[share.frame.object] += share.sample_count

    def rank(path: str) -> tuple[bool, bool, int]:
        is_file = path.startswith("/") and ".so" not in os.path.basename(path)
        return os.path.basename(path) != name, not is_file, -counts[path]

    return sorted(counts, key=rank)


def _value_type(strings: _Strings, kind: str, unit: str) -> bytes:
    return _number(1, strings.number(kind)) + _number(2, strings.number(unit))


EXTENSION = ProfileFormat("pprof", ".pb.gz", "pprof, and what reads its profiles", render)
