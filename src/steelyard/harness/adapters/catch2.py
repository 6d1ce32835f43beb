"""Catch2's XML (``--reporter xml``), of versions 2 and 3.

It has the mean of each benchmark's samples and not the samples: one value an execution. As
``benchmarkEnded`` of reporters/catch_reporter_xml.cpp writes it, in nanoseconds.
"""

from __future__ import annotations

from xml.parsers import expat

from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source

NANOSECONDS = 1e-9
RESULTS = "BenchmarkResults"
_NAMED = ("TestCase", "Section")
_MOST_DEPTH = 200


def recognises(text: str) -> bool:
    """Whether it is XML with Catch2's root."""
    head = text.lstrip()[:400]
    return head.startswith("<") and ("<Catch2TestRun" in head or "<Catch " in head)


def read(source: Source) -> tuple[Series, ...]:
    """The mean of each benchmark, named by its test case, sections and itself."""
    reader = _Reader(FieldReader(source.name))
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    start = source.text.find("<")
    try:
        parser.Parse(source.text[max(start, 0) :].encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise DataError(
            f"{source.name} is not whole XML: {expat.ErrorString(error.code)} in line "
            f"{error.lineno}.",
            field="file",
        ) from None
    if not reader.series:
        raise DataError(f"{source.name} holds no {RESULTS}.", field=RESULTS)
    return tuple(reader.series)


class _Reader:
    """Follows the elements; the path of names says which benchmark it is."""

    def __init__(self, fields: FieldReader) -> None:
        self.fields = fields
        self.series: list[Series] = []
        self._path: list[str] = []
        self._open: list[bool] = []
        self._benchmark: str | None = None

    def refuse_doctype(self, *_: object) -> None:
        """Refuse a document type: Catch2 writes none, and it may define texts without end."""
        raise DataError(
            f"{self.fields.path} has a document type, which Catch2 never writes.", field="file"
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an element's beginning."""
        if len(self._open) > _MOST_DEPTH:
            raise DataError(
                f"{self.fields.path} nests deeper than {_MOST_DEPTH} elements.", field="file"
            )
        named = tag in _NAMED or tag == RESULTS
        self._open.append(named)
        if named:
            self._path.append(attributes.get("name", "").strip())
        if tag == RESULTS:
            self._benchmark = "/".join(self._path)
        elif self._benchmark is not None and tag == "mean":
            where = f"{self._benchmark}: mean"
            value = self._number(attributes.get("value", ""), where)
            self.series.append(Series(self._benchmark, ITERATION_TIME, "s", (value * NANOSECONDS,)))
        elif self._benchmark is not None and tag == "failed":
            told = attributes.get("message", "it failed")
            self.series.append(Series(self._benchmark, ITERATION_TIME, "s", (), error=told))

    def end(self, tag: str) -> None:
        """Take an element's end."""
        if self._open.pop():
            self._path.pop()
        if tag == RESULTS:
            self._benchmark = None

    def _number(self, text: str, where: str) -> float:
        try:
            value = float(text) if "_" not in text else float("nan")
        except ValueError:
            value = float("nan")
        return self.fields.number(value, where)


EXTENSION = Adapter(
    name="catch2",
    harness="Catch2",
    description="Its XML; the mean of a benchmark's samples is the one value of an execution.",
    recognises=recognises,
    read=read,
)
