"""The part of an execution that has to be steady for it to count as such."""

from __future__ import annotations

# Traini et al. (2023), section 3.3: the steady state must hold for the last 500 of 3,000.
STEADY_SHARE = 1 / 6
_FEWEST_STEADY = 10


def latest_start(count: int) -> int:
    """The last iteration at which a steady state may begin that is seen long enough."""
    return count - max(_FEWEST_STEADY, round(STEADY_SHARE * count))
