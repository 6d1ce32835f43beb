"""An XML document: a catalogue of records with attributes and nested elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value
from steelyard.suite.vocabulary import vocabulary


def _tree(stream: Stream, words: list[str], depth: int) -> str:
    word = stream.pick(words)
    if depth == 0 or stream.below(3) == 0:
        return f"<note>{word} &amp; {stream.pick(words)}</note>"
    inner = "".join(_tree(stream, words, depth - 1) for _ in range(1 + stream.below(3)))
    return f'<part name="{word}" weight="{stream.below(1000)}">{inner}</part>'


def _item(stream: Stream, words: list[str], number: int, depth: int) -> str:
    title = " ".join(stream.pick(words) for _ in range(4))
    return (
        f'<item id="i{number}" kind="{stream.pick(words[:12])}">'
        f"<title>{title}</title><price>{stream.below(100_000) / 100:.2f}</price>"
        f'<refers to="i{stream.below(number + 1)}"/>{_tree(stream, words, depth)}</item>\n'
    )


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream, words = Stream(seed, "xml"), vocabulary(seed, 4000)
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<catalogue>\n'
    size_bytes, written, number = int(parameters["bytes"]), 0, 0
    while written < size_bytes:
        piece = _item(stream, words, number, int(parameters["depth"])).encode()
        written += len(piece)
        number += 1
        yield piece
    yield b"</catalogue>\n"


EXTENSION = Generator(
    name="xml",
    description="A catalogue of at least `bytes`, with elements nested up to `depth`.",
    make=_make,
    parameters={"bytes": 1_000_000, "depth": 5},
)
