"""Tables of trials made of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table


def table(**columns: Sequence[Any]) -> Table:
    """A table of these columns, whose rows are the lines of a file from the second on."""
    made = {
        name: tuple(values)
        if any(isinstance(v, str) for v in values)
        else np.asarray(values, dtype=np.float64)
        for name, values in columns.items()
    }
    return Table("data.csv", made, range(2, 2 + len(next(iter(made.values())))))


def question(response: str = "y", factors: str = "", **extra: Any) -> Question:
    """A question of one response and some factors."""
    named = {k: extra.pop(k) for k in ("quantiles", "confidence", "seed", "unit") if k in extra}
    return Question(
        response=response, factors=tuple(filter(None, factors.split(","))), extra=extra, **named
    )
