"""A list of words, one a line, each as often as Zipf's law has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value
from steelyard.suite.vocabulary import vocabulary, zipf_table

_AT_ONCE = 1 << 14


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    words = vocabulary(seed, int(parameters["words"]))
    table = [words[rank] for rank in zipf_table(len(words))]
    stream = Stream(seed, "words")
    left = int(parameters["count"])
    while left > 0:
        drawn = stream.short_numbers(min(left, _AT_ONCE))
        left -= len(drawn)
        yield "".join([table[number] + "\n" for number in drawn]).encode()


EXTENSION = Generator(
    name="words",
    description="`count` words, one a line, of a vocabulary of `words`.",
    make=_make,
    parameters={"count": 100_000, "words": 20_000},
)
