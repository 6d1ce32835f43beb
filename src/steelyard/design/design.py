"""A design: which combinations of factor levels are run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from steelyard.core.errors import UsageError

DesignKind = Literal[
    "full-factorial", "fractional-factorial", "plackett-burman", "latin-square", "d-optimal"
]
# A plan of a million trials takes seconds and some tens of megabytes; beyond, a design is a slip.
MOST_POINTS = 10_000_000


@dataclass(frozen=True)
class DesignFactor:
    """A factor with its levels; of a two-level design the first is the low one.

    Raises
    ------
    UsageError
        No level, or one twice.
    """

    name: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.levels or len(set(self.levels)) != len(self.levels):
            raise UsageError(
                f"The factor {self.name!r} needs levels that differ; it has "
                f"{', '.join(map(repr, self.levels)) or 'none'}.",
                field=self.name,
            )


@dataclass(frozen=True)
class Alias:
    """Effects that a design cannot tell from one another: ``effect = sign other + ...``.

    `weights` goes with `others`: 1 or -1 where they are the same up to sign, less where they are
    mixed in part, as in a Plackett-Burman design.
    """

    effect: str
    others: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Design:
    """Points of a design, each a level of every factor.

    Parameters
    ----------
    kind : str
    factors : tuple of DesignFactor
    points : sequence of tuple of int
        For each point the index of the level of each factor.
    resolution : int or None
        Of a two-level fraction: the length of its shortest word. III mixes main effects with
        interactions of two, IV these with each other, V neither. None where nothing is aliased.
    aliases : tuple of Alias
        Up to interactions of two factors.
    generators : tuple of str
        Of a two-level fraction, such as ``E = A:B:C``.
    efficiency_ratio : float or None
        Of a chosen set of points: how much it tells in each run (D-efficiency), 1 being the full
        factorial without constraints.
    model_order : int or None
        Of a chosen set of points: the most factors in an interaction that it tells from others.
    """

    kind: DesignKind
    factors: tuple[DesignFactor, ...]
    points: Sequence[tuple[int, ...]]
    resolution: int | None = None
    aliases: tuple[Alias, ...] = ()
    generators: tuple[str, ...] = ()
    efficiency_ratio: float | None = None
    model_order: int | None = None

    def levels_of(self, point: int) -> dict[str, str]:
        """The level of each factor at a point."""
        codes = self.points[point]
        return {f.name: f.levels[code] for f, code in zip(self.factors, codes, strict=True)}


def check_factors(factors: Sequence[DesignFactor]) -> None:
    """Different names, and at least one factor.

    Raises
    ------
    UsageError
    """
    names = [factor.name for factor in factors]
    if not names:
        raise UsageError("A design needs at least one factor.", field="factors")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The factor {name!r} is there twice.", field=name)


def check_size(factors: Sequence[DesignFactor]) -> None:
    """Refuse a design with more points than anyone runs.

    Raises
    ------
    UsageError
    """
    count = prod(len(factor.levels) for factor in factors)
    if count > MOST_POINTS:
        raise UsageError(
            f"The full factorial of {len(factors)} factors has {count} points; {MOST_POINTS} is "
            "the most. Take a fraction, screen first, or draw setups at random.",
            field="factors",
        )


def two_level(factors: Sequence[DesignFactor], kind: str) -> None:
    """Refuse factors that have not two levels each.

    Raises
    ------
    UsageError
    """
    for factor in factors:
        if len(factor.levels) != 2:
            raise UsageError(
                f"A {kind} design takes factors with two levels; {factor.name!r} has "
                f"{len(factor.levels)}. Name two of them, or take a full factorial.",
                field=factor.name,
            )
