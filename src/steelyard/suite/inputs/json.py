"""A JSON document: a list of records with numbers, texts, lists and records inside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.suite.generator import Generator, Stream, Value
from steelyard.suite.vocabulary import vocabulary


def _record(stream: Stream, words: list[str], number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": " ".join(stream.pick(words) for _ in range(2)).title(),
        "active": stream.below(3) > 0,
        "balance": stream.below(10_000_000) / 100 - 20_000,
        "place": {"latitude": stream.share() * 180 - 90, "longitude": stream.share() * 360 - 180},
        "tags": [stream.pick(words) for _ in range(stream.below(8))],
        "about": " ".join(stream.pick(words) for _ in range(stream.below(40)))
        + ' "\u00e9\u4e2d"\n',
        "parent": None if stream.below(4) == 0 else stream.below(number + 1),
    }


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream, words = Stream(seed, "json"), vocabulary(seed, 4000)
    size_bytes, written, number = int(parameters["bytes"]), 0, 0
    indent = 1 if parameters["lines"] else None
    while written < size_bytes:
        text = json.dumps(_record(stream, words, number), ensure_ascii=False, indent=indent)
        piece = (("," if number else "[") + "\n" + text).encode()
        written += len(piece)
        number += 1
        yield piece
    yield b"\n]\n"


EXTENSION = Generator(
    name="json",
    description="A list of records, at least `bytes` long; `lines` puts each field on its own.",
    make=_make,
    parameters={"bytes": 1_000_000, "lines": False},
)
