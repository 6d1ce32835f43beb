"""Source lines at addresses of a program, where its debugging information has a table of them.

DWARF Debugging Information Format, version 5, section 6.2; versions 2 to 4 are read too.
"""

from __future__ import annotations

import os
import tempfile
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from steelyard.core.decoding import regular_opener
from steelyard.profile.symbols.debug_sections import Section, debug_sections
from steelyard.profile.symbols.inlined_code import debug_source
from steelyard.profile.symbols.line_table import DamagedTableError, LineTable, Row, line_tables

_LINES, _TEXTS = ".debug_line", (".debug_line_str", ".debug_str")
# Larger tables would take longer than the run that is learnt.
_MOST_BYTES = 32 << 20


def source_lines(path: str, addresses: Sequence[int]) -> list[str]:
    """For each virtual address of a file the line there, as ``file.c:12``; empty where none is
    told, or what tells it is damaged or very large."""
    source = debug_source(path) if addresses else None
    if source is None:
        return [""] * len(addresses)
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        sections = {each.name: each for each in debug_sections(source, folder)}
        lines = sections.get(_LINES)
        if lines is None or lines.size > _MOST_BYTES:
            return [""] * len(addresses)
        texts = {name: _bytes_of(sections[name]) for name in _TEXTS if name in sections}
        found = _found(_bytes_of(lines), texts, sorted(set(addresses)))
    return [found.get(address, "") for address in addresses]


def _bytes_of(section: Section) -> bytes:
    with open(section.path, "rb", opener=regular_opener) as file:
        file.seek(section.offset)
        return file.read(section.size)


def _found(data: bytes, texts: Mapping[str, bytes], rising: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for table in line_tables(data, texts):
        for address, file, line in _lines_at(table, rising):
            name = os.path.basename(table.files.get(file, ""))
            if name and line:
                found[address] = f"{name}:{line}"
    return found


def _lines_at(table: LineTable, rising: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """The wanted addresses in a table, each with the number of its file, and its line."""
    before: Row | None = None
    at, count = 0, len(rising)
    rows = table.rows()
    while True:
        try:
            row = next(rows, None)
        except DamagedTableError:
            return
        if row is None:
            return
        if before is None:
            at = bisect_left(rising, row.address)
        else:
            while at < count and rising[at] < row.address:
                yield rising[at], before.file, before.line
                at += 1
        before = None if row.is_end else row
