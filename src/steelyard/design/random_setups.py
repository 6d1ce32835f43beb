"""Fully randomised setups: every setup draws a level of every nuisance factor."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.errors import UsageError
from steelyard.core.rng import random_words
from steelyard.design.constraints import Allowed, Constraint
from steelyard.design.design import Design, DesignFactor, check_factors

_MOST_DRAWS = 1000


def random_setups(
    variants: DesignFactor,
    nuisances: Sequence[DesignFactor],
    setup_count: int,
    seed: int,
    constraints: Sequence[Constraint] = (),
) -> Design:
    """Setups drawn with replacement, each with every variant.

    Parameters
    ----------
    variants : DesignFactor
        What is compared; every setup runs all of its levels.
    nuisances : sequence of DesignFactor
        What is randomised.
    setup_count : int
    seed : int
        Setup k is the same for any number of setups.
    constraints : sequence of Constraint
        A setup that one of them forbids to any variant is drawn again.

    Raises
    ------
    UsageError
        No setup, or constraints that hardly any setup keeps.

    Notes
    -----
    Mytkowicz (2010), section 4.6.1.2: the interval over setups then speaks of all setups that
    could have been drawn.
    """
    factors = (variants, *nuisances)
    check_factors(factors)
    if setup_count < 1:
        raise UsageError("At least one setup must be drawn.", field="setups")
    allowed = Allowed(factors, constraints)
    points: list[tuple[int, ...]] = []
    for setup in range(setup_count):
        drawn = _draw(nuisances, len(variants.levels), allowed, (seed, setup))
        points += [(variant, *drawn) for variant in range(len(variants.levels))]
    return Design("random-setups", factors, points)


def _draw(
    nuisances: Sequence[DesignFactor], variant_count: int, allowed: Allowed, place: tuple[int, int]
) -> tuple[int, ...]:
    seed, setup = place
    for attempt in range(_MOST_DRAWS):
        words = random_words(seed, len(nuisances), "setup", setup, attempt)
        # A word has 64 bits: its remainder favours no level by more than 1e-15.
        drawn = tuple(w % len(f.levels) for w, f in zip(words, nuisances, strict=True))
        if all(allowed((variant, *drawn)) for variant in range(variant_count)):
            return drawn
    raise UsageError(
        f"Of {_MOST_DRAWS} setups drawn none keeps the constraints with every variant.",
        field="constraints",
    )
