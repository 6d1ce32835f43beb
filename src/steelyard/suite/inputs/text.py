"""Prose: words of a made-up language with Zipf's frequencies, in sentences and paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value, cut
from steelyard.suite.vocabulary import vocabulary, zipf_table

_PARAGRAPH_WORDS = 4096


def _paragraphs(seed: int, vocabulary_count: int) -> Iterator[bytes]:
    words = vocabulary(seed, vocabulary_count)
    table = [words[rank] for rank in zipf_table(vocabulary_count)]
    stream = Stream(seed, "text")
    while True:
        drawn = [table[number] for number in stream.short_numbers(_PARAGRAPH_WORDS)]
        begin = 0
        sentences: list[str] = []
        while begin < len(drawn):
            length = 4 + stream.below(18)
            sentence = drawn[begin : begin + length]
            begin += length
            if len(sentence) > 11:
                sentence[5] += ","
            sentence[0] = sentence[0].capitalize()
            ending = "\n\n" if stream.below(6) == 0 else "\n" if stream.below(2) else " "
            sentences.append(" ".join(sentence) + stream.pick("....?!") + ending)
        yield "".join(sentences).encode()


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    yield from cut(_paragraphs(seed, int(parameters["words"])), int(parameters["bytes"]))


EXTENSION = Generator(
    name="text",
    description="Prose with Zipf's word frequencies; `words` in its vocabulary.",
    make=_make,
    parameters={"bytes": 1_000_000, "words": 20_000},
)
