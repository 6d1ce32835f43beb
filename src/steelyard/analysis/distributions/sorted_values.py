"""Values in order of size."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from steelyard.core.trial_columns import MANY


def sorted_values(values: Sequence[float]) -> Sequence[float]:
    """The values from the smallest to the largest: a list, or an array of many."""
    if len(values) < MANY:
        return sorted(values)
    import numpy as np

    found = array("d")
    found.frombytes(np.sort(np.asarray(values, dtype=np.float64)).tobytes())
    return found
