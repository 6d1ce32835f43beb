"""Every combination of all levels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from steelyard.core.errors import UsageError
from steelyard.design.constraints import Allowed, Constraint
from steelyard.design.design import Design, DesignFactor, check_factors, check_size


def full_factorial(
    factors: Sequence[DesignFactor], constraints: Sequence[Constraint] = ()
) -> Design:
    """The full factorial, without what constraints forbid.

    Raises
    ------
    UsageError
        Constraints leave nothing, or the design is larger than anyone runs.
    """
    check_factors(factors)
    check_size(factors)
    points: list[tuple[int, ...]] = list(product(*(range(len(f.levels)) for f in factors)))
    if constraints:
        allowed = Allowed(factors, constraints)
        points = [point for point in points if allowed(point)]
    if not points:
        raise UsageError("The constraints leave no combination to run.", field="constraints")
    return Design("full-factorial", tuple(factors), points)
