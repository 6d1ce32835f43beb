"""A share of a factor's levels, drawn: its coverage (Oliveira 2015, 4.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from steelyard.app.experiment.experiment_entries import ConstraintEntry, FactorEntry
from steelyard.core.errors import UsageError
from steelyard.core.rng import derive_seed

# A share of decimal places, such as 60 % of five levels, is no whole number in binary.
_ROUNDING = 1e-9


def drawn_levels(entry: FactorEntry, seed: int) -> FactorEntry:
    """The factor with as many of its levels as its share says, in the order of the file.

    0 % is one level, 100 % all of them, and between them the share is rounded up.
    """
    if entry.share is None:
        return entry
    count = max(1, ceil(entry.share * len(entry.levels) - _ROUNDING))
    places = sorted(
        range(len(entry.levels)), key=lambda place: derive_seed(seed, "share", entry.name, place)
    )
    return replace(entry, levels=tuple(entry.levels[place] for place in sorted(places[:count])))


def refuse_constrained(
    path: str, factors: Sequence[FactorEntry], constraints: Sequence[ConstraintEntry]
) -> None:
    """Refuse a share of levels that a constraint may name.

    Raises
    ------
    UsageError
        A factor with a share is in a constraint.
    """
    drawn = {entry.name for entry in factors if entry.share is not None}
    for constraint in constraints:
        for name in (*constraint.when, *constraint.require, *constraint.forbid):
            if name in drawn:
                raise UsageError(
                    f"{path}: a constraint names {name!r}, of whose levels a share is drawn. Leave "
                    "out its `share`, or the constraint.",
                    field="factor.share",
                )
