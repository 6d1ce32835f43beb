"""Latin squares: a treatment once in every row and column of two nuisance factors."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.errors import UsageError
from steelyard.core.rng import derive_seed
from steelyard.design.design import Design, DesignFactor, check_factors


def latin_square(
    rows: DesignFactor, columns: DesignFactor, treatment: DesignFactor, seed: int
) -> Design:
    """A square drawn from the seed: the cyclic one with rows, columns and letters shuffled.

    Raises
    ------
    UsageError
        The three factors have not one number of levels.

    Notes
    -----
    Fisher and Yates, Statistical Tables (1938), section on Latin squares. Main effects are
    balanced; interactions are mixed into them, so that the analysis takes main effects alone.
    """
    factors: Sequence[DesignFactor] = (rows, columns, treatment)
    check_factors(factors)
    size = len(treatment.levels)
    if len({len(factor.levels) for factor in factors}) > 1:
        found = ", ".join(f"{factor.name!r} has {len(factor.levels)}" for factor in factors)
        raise UsageError(
            f"A Latin square takes three factors with one number of levels; {found}.",
            field=treatment.name,
        )
    row_order, column_order, letters = (
        _shuffled(seed, size, what) for what in ("rows", "columns", "letters")
    )
    points = [
        (row, column, letters[(row_order[row] + column_order[column]) % size])
        for row in range(size)
        for column in range(size)
    ]
    return Design("latin-square", tuple(factors), points)


def _shuffled(seed: int, count: int, what: str) -> list[int]:
    return sorted(range(count), key=lambda item: derive_seed(seed, "latin-square", what, item))
