"""Uniform bytes, which nothing compresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_AT_ONCE_BYTES = 1 << 20


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "noise")
    left = int(parameters["bytes"])
    while left > 0:
        yield stream.data(min(left, _AT_ONCE_BYTES))
        left -= _AT_ONCE_BYTES


EXTENSION = Generator(
    name="noise",
    description="`bytes` of uniform noise.",
    make=_make,
    parameters={"bytes": 1_000_000},
)
