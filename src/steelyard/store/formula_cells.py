"""Texts that a spreadsheet would run as formulas, kept apart by an apostrophe."""

from __future__ import annotations

import re
from typing import Any

_FIRST = frozenset("=@+-\t\r'")
# A sign begins levels such as -O2 too, which a spreadsheet shows: only what calls something runs.
_FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-].*[(|!])", re.DOTALL)


def as_text(cell: Any) -> Any:
    """A cell of a table that no spreadsheet takes for a formula; see `without_mark`."""
    if isinstance(cell, str) and cell[:1] in _FIRST and _FORMULA.match(cell):
        return f"'{cell}"
    return cell


def without_mark(cell: str) -> str:
    """What a cell was before `as_text`."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell
