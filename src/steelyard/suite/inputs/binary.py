"""Bytes as in executables and tables: records that repeat with changes, runs, and noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value, cut

_RECORD_BYTES = 64


def _pieces(seed: int) -> Iterator[bytes]:
    stream = Stream(seed, "binary")
    earlier = [stream.data(_RECORD_BYTES) for _ in range(64)]
    while True:
        kind = stream.below(10)
        if kind < 6:
            record = bytearray(stream.pick(earlier))
            for _ in range(stream.below(6)):
                record[stream.below(_RECORD_BYTES)] = stream.below(256)
            earlier[stream.below(len(earlier))] = bytes(record)
            yield bytes(record)
        elif kind < 8:
            yield bytes([stream.pick((0, 0, 255, 0x90))]) * (4 + stream.below(300))
        elif kind == 8:
            first, step = stream.below(1 << 24), 1 + stream.below(64)
            count = 8 + stream.below(60)
            yield b"".join((first + n * step).to_bytes(4, "little") for n in range(count))
        else:
            yield stream.data(16 + stream.below(240))


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    yield from cut(_pieces(seed), int(parameters["bytes"]))


EXTENSION = Generator(
    name="binary",
    description="`bytes` of records, runs, counters and noise.",
    make=_make,
    parameters={"bytes": 1_000_000},
)
