"""Plain text in a width: wrapped lines, and tables with aligned columns."""

from __future__ import annotations

from steelyard.report.texts.labels import labels
from steelyard.report.texts.table import Table

GAP = "  "
_NARROWEST_NAME = 12


def wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """The lines of a text in `width` columns where one is given."""
    if width is None:
        return [indent + text]
    import textwrap

    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def plain_table(table: Table, width: int | None) -> list[str]:
    """The lines of a table with aligned columns, in `width` columns where one is given.

    One that is still too wide is continued below, with its first column again.
    """
    lines: list[str] = []
    for part in fitted_parts(table, width):
        lines += [""] if lines else []
        lines += _aligned(part)
    return lines


def _aligned(table: Table) -> list[str]:
    columns = range(len(table.headers))
    widths = [max(len(row[c]) for row in (table.headers, *table.rows)) for c in columns]
    lines: list[str] = []
    for row in (table.headers, *table.rows):
        cells = [
            row[c].ljust(widths[c]) if c in table.left else row[c].rjust(widths[c]) for c in columns
        ]
        lines.append(GAP.join(cells).rstrip())
    return lines


def fitted_parts(table: Table, width: int | None, gap: int = len(GAP)) -> list[Table]:
    """`table` in `width` columns: as `fitted`, then cut between its columns where it must be.

    Each part begins with the columns up to that of the names.
    """
    table = fitted(table, width, gap)
    if width is None or table_width(table, gap) <= width:
        return [table]
    names = range(_name_column(table) + 1)
    parts: list[Table] = []
    kept = list(names)
    for column in range(len(names), len(table.headers)):
        if len(kept) > len(names) and table_width(_columns(table, [*kept, column]), gap) > width:
            parts.append(_columns(table, kept))
            kept = list(names)
        kept.append(column)
    return [*parts, _columns(table, kept)]


def _columns(table: Table, kept: list[int]) -> Table:
    for column in reversed(range(len(table.headers))):
        if column not in kept:
            table = table.without(column)
    return table


def _name_column(table: Table) -> int:
    return table.headers.index("variant") if "variant" in table.headers else 0


def fitted(table: Table, width: int | None, gap: int = len(GAP)) -> Table:
    """`table` in `width` columns: spare columns go first, then the names are shortened."""
    if width is None:
        return table
    while table.spare and table_width(table, gap) > width:
        table = table.without(table.spare[0])
    excess = table_width(table, gap) - width
    column = _name_column(table)
    longest = max((len(row[column]) for row in table.rows), default=0)
    if excess <= 0 or longest <= _NARROWEST_NAME:
        return table
    limit = max(_NARROWEST_NAME, longest - excess)
    short = labels((row[column] for row in table.rows), limit)
    rows = [list(row) for row in table.rows]
    for row in rows:
        row[column] = short[row[column]] if row[column] else ""
    return Table(table.headers, tuple(tuple(row) for row in rows), table.left, table.spare)


def table_width(table: Table, gap: int = len(GAP)) -> int:
    """The columns that a table takes with `gap` columns between its own."""
    columns = range(len(table.headers))
    widths = [max(len(row[c]) for row in (table.headers, *table.rows)) for c in columns]
    return sum(widths) + gap * (len(widths) - 1)
