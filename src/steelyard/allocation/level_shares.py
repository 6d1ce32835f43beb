"""How many levels of a factor are used, and which: shares, as Oliveira 2015 (4.1.2) has them.

0 % is one level, 100 % all, and between them the share rounded up, so that at least what was asked
for is covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from steelyard.core.rng import derive_seed

# A share of a third of three levels is one, whatever the last digit of 1/3.
_ROUNDING = 1e-9


def level_count(share_ratio: float, level_count: int) -> int:
    """How many of so many levels a share from 0 to 1 is; at least one.

    Raises
    ------
    ValueError
        The share lies outside 0 to 1, or there is no level.
    """
    if not 0.0 <= share_ratio <= 1.0 or level_count < 1:
        raise ValueError("a share lies between 0 and 1, of at least one level")
    return max(1, ceil(share_ratio * level_count - _ROUNDING))


def drawn_levels(
    levels: Sequence[str], share_ratio: float, seed: int, factor: str
) -> tuple[str, ...]:
    """As many levels as `share_ratio` says, each set of them with the same probability.

    They keep their order, so that the first of those drawn is the baseline.
    """
    count = level_count(share_ratio, len(levels))
    keys = {level: derive_seed(seed, "share", factor, level) for level in levels}
    drawn = set(sorted(levels, key=lambda level: keys[level])[:count])
    return tuple(level for level in levels if level in drawn)
