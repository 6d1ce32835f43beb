"""Plackett-Burman designs: the main effects of many factors in few runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from steelyard.core.errors import UsageError
from steelyard.design.design import Alias, Design, DesignFactor, check_factors, two_level
from steelyard.design.hadamard import LARGEST_ORDER, hadamard_matrix

# R. L. Plackett and J. P. Burman, The design of optimum multifactorial experiments, Biometrika 33
# (1946) 305: first rows, to be rotated. Other sizes are made of Hadamard matrices.
_FIRST_ROWS = {
    12: "++-+++---+-",
    20: "++--++++-+-+----++-",
    24: "+++++-+-++--++--+-+----",
    36: "-+-+++---+++++-+++--+----+-+-++--+-",
    44: "++--+-+--+++-+++++---+-+++-----+---++-+-++-",
}
_SMALLEST = 4


def plackett_burman(factors: Sequence[DesignFactor], folded: bool = False) -> Design:
    """The smallest Plackett-Burman design for so many factors.

    Parameters
    ----------
    factors : sequence of DesignFactor
        Two levels each.
    folded : bool
        Also run each point with all levels turned round, which frees main effects from
        interactions of two.

    Raises
    ------
    UsageError
        A factor has not two levels, or there are more than 63 factors.
    """
    check_factors(factors)
    two_level(factors, "Plackett-Burman")
    rows = _signs(len(factors))
    if folded:
        rows = rows + [tuple(-sign for sign in row) for row in rows]
    points = [tuple((1 + sign) // 2 for sign in row[: len(factors)]) for row in rows]
    aliases = tuple(_aliases([factor.name for factor in factors], rows))
    mixed = any(":" not in alias.effect for alias in aliases)
    return Design(
        "plackett-burman",
        tuple(factors),
        points,
        resolution=3 if mixed else (4 if folded else None),
        aliases=aliases,
    )


def _signs(factor_count: int) -> list[tuple[int, ...]]:
    size = max(_SMALLEST, 4 * -(-(factor_count + 1) // 4))
    if size > LARGEST_ORDER:
        raise UsageError(
            f"Plackett-Burman designs are made for up to {LARGEST_ORDER - 1} factors; there are "
            f"{factor_count}. Screen them in groups.",
            field="factors",
        )
    if size in _FIRST_ROWS:
        first = [1 if sign == "+" else -1 for sign in _FIRST_ROWS[size]]
        rotated = [tuple(first[-k:] + first[:-k]) for k in range(size - 1)]
        return [*rotated, (-1,) * (size - 1)]
    return [tuple(row[1:]) for row in hadamard_matrix(size)]


def _aliases(names: Sequence[str], rows: Sequence[Sequence[int]]) -> Iterator[Alias]:
    """For each main effect the share of each interaction of two that is mixed into it."""
    count = len(rows)
    columns = [[row[place] for row in rows] for place in range(len(names))]
    pairs = list(combinations(range(len(names)), 2))
    for place, name in enumerate(names):
        others: list[str] = []
        weights: list[float] = []
        for a, b in pairs:
            if place in (a, b):
                continue
            triple = zip(columns[place], columns[a], columns[b], strict=True)
            share = sum(x * y * z for x, y, z in triple) / count
            if share:
                others.append(f"{names[a]}:{names[b]}")
                weights.append(share)
        if others:
            yield Alias(name, tuple(others), tuple(weights))
