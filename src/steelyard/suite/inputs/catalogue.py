"""A catalogue in XML: items with categories, prices, texts and references to one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value
from steelyard.suite.vocabulary import vocabulary, zipf_table

_VOCABULARY_COUNT = 4000
_CATEGORY_COUNT = 12
_REFERENCE_COUNT = 3
_TEXT_WORDS = 15
_PRICE_LIMIT_CENTS = 100_000


def _item(number: int, count: int, words: list[str], stream: Stream) -> str:
    def some(how_many: int) -> str:
        return " ".join(stream.pick(words) for _ in range(how_many))

    cents = stream.below(_PRICE_LIMIT_CENTS)
    references = "".join(f'<like id="i{stream.below(count)}"/>' for _ in range(_REFERENCE_COUNT))
    return (
        f'<item id="i{number}" category="c{stream.below(_CATEGORY_COUNT)}">'
        f"<name>{some(2)}</name><price>{cents // 100}.{cents % 100:02}</price>{references}"
        f"<text>{some(_TEXT_WORDS)}</text></item>\n"
    )


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    known = vocabulary(seed, _VOCABULARY_COUNT)
    words = [known[rank] for rank in zipf_table(_VOCABULARY_COUNT)]
    stream = Stream(seed, "catalogue")
    count = int(parameters["items"])
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<catalogue>\n'
    for number in range(count):
        yield _item(number, count, words, stream).encode()
    yield b"</catalogue>\n"


EXTENSION = Generator(
    name="catalogue",
    description="An XML document of `items` with names, prices, texts and references.",
    make=_make,
    parameters={"items": 400},
)
