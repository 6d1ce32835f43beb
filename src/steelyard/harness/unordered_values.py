"""Values whose order a harness has lost by sorting them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from steelyard.core.rng import derive_seed

_FEW = 4


def in_random_order(values: Sequence[float]) -> tuple[float, ...]:
    """`values` in an order drawn from a fixed seed, where they were sorted; as they are otherwise.

    A sorted sequence looks as if every value depended on the one before. In an order that is drawn
    nothing is said of dependence, which is what is known.
    """
    if len(values) < _FEW or any(a > b for a, b in pairwise(values)):
        return tuple(values)
    places = sorted(range(len(values)), key=lambda place: derive_seed(0, "unsorted", place))
    return tuple(values[place] for place in places)
