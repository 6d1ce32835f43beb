"""Combinations of levels that cannot be run together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.core.errors import UsageError
from steelyard.design.design import DesignFactor


@dataclass(frozen=True)
class Constraint:
    """Where all of `when` holds, all of `require` must too; with no `require`, `when` is forbidden.

    Both map a factor to the levels that it may have.
    """

    when: Mapping[str, tuple[str, ...]]
    require: Mapping[str, tuple[str, ...]]


class Allowed:
    """Whether points of some factors keep all constraints.

    Raises
    ------
    UsageError
        A constraint names a factor or a level that there is not, or has no condition.
    """

    def __init__(self, factors: Sequence[DesignFactor], constraints: Sequence[Constraint]) -> None:
        places = {factor.name: place for place, factor in enumerate(factors)}
        self._rules = [
            (_codes(factors, places, c.when), _codes(factors, places, c.require))
            for c in constraints
        ]
        if any(not constraint.when for constraint in constraints):
            raise UsageError(
                "A constraint without a condition would hold everywhere; say when it holds.",
                field="constraints",
            )

    def __call__(self, point: Sequence[int]) -> bool:
        """Whether the point may be run."""
        for when, require in self._rules:
            if all(point[place] in codes for place, codes in when) and not (
                require and all(point[place] in codes for place, codes in require)
            ):
                return False
        return True


def _codes(
    factors: Sequence[DesignFactor],
    places: Mapping[str, int],
    levels_of: Mapping[str, tuple[str, ...]],
) -> list[tuple[int, frozenset[int]]]:
    found: list[tuple[int, frozenset[int]]] = []
    for name, levels in levels_of.items():
        if name not in places:
            known = ", ".join(map(repr, places))
            raise UsageError(
                f"A constraint names the factor {name!r}; the factors are {known}.",
                field="constraints",
            )
        factor = factors[places[name]]
        for level in levels:
            if level not in factor.levels:
                raise UsageError(
                    f"A constraint names the level {level!r} of {name!r}; its levels are "
                    f"{', '.join(map(repr, factor.levels))}.",
                    field="constraints",
                )
        codes = frozenset(factor.levels.index(level) for level in levels)
        found.append((places[name], codes))
    return found
