"""A web page as people write them: tables, lists, links, and tags that nobody closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value
from steelyard.suite.vocabulary import vocabulary

_INLINE = ("b", "i", "em", "strong", "code", "span")


class _Page:
    """Pieces of one page."""

    def __init__(self, seed: int, sloppy: bool) -> None:
        self.stream = Stream(seed, "html")
        self.words = vocabulary(seed, 4000)
        self.sloppy = sloppy

    def closing(self, tag: str) -> str:
        return "" if self.sloppy and self.stream.below(6) == 0 else f"</{tag}>"

    def prose(self, count: int) -> str:
        found: list[str] = []
        for _ in range(count):
            word = self.stream.pick(self.words)
            kind = self.stream.below(24)
            if kind == 0:
                tag = self.stream.pick(_INLINE)
                word = f"<{tag}>{word}{self.closing(tag)}"
            elif kind == 1:
                word = f'<a href="/{word}?a={self.stream.below(99)}&amp;b=2">{word}</a>'
            elif kind == 2:
                word += " &lt;&eacute;&gt;"
            found.append(word)
        return " ".join(found)

    def table(self) -> str:
        columns = 2 + self.stream.below(5)
        rows = [
            "<tr>" + "".join(f"<td>{self.prose(2)}{self.closing('td')}" for _ in range(columns))
            for _ in range(2 + self.stream.below(10))
        ]
        return '<table border="1">\n' + "\n".join(rows) + "\n</table>"

    def list(self) -> str:
        items = [
            f"<li>{self.prose(6)}{self.closing('li')}" for _ in range(1 + self.stream.below(9))
        ]
        return "<ul>\n" + "\n".join(items) + "\n</ul>"

    def block(self) -> str:
        kind = self.stream.below(8)
        if kind == 0:
            return self.table()
        if kind == 1:
            return self.list()
        if kind == 2:
            return f"<h2>{self.prose(4)}{'</h2>'}"
        tag = "p" if kind < 6 else "div"
        return f'<{tag} class="c{self.stream.below(20)}">{self.prose(40)}{self.closing(tag)}'


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    page = _Page(seed, bool(parameters["sloppy"]))
    yield b"<!DOCTYPE html>\n<html>\n<head><title>Made up</title></head>\n<body>\n"
    written, size_bytes = 0, int(parameters["bytes"])
    while written < size_bytes:
        piece = (page.block() + "\n").encode()
        written += len(piece)
        yield piece
    yield b"</body>\n</html>\n"


EXTENSION = Generator(
    name="html",
    description="A page of at least `bytes`; a `sloppy` one leaves tags open.",
    make=_make,
    parameters={"bytes": 200_000, "sloppy": True},
)
