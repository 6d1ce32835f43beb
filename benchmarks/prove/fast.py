"""The tests of sequences by numpy, so that ten thousand experiments take minutes.

The tool's own functions avoid numpy below some thousand values, for its import takes longer than
they do. Here it is there already: the same sums are made by numpy from far fewer values on, and the
score of Mann and Kendall's test by all pairs at once. `hold_to_the_real_tests` compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import erfc, isclose, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from steelyard.analysis.intervals import mean
from steelyard.analysis.tests import independence

_FEWEST, _MOST_PAIRED = 48, 256
_real_mann_kendall = independence.mann_kendall


def mann_kendall(values: Sequence[float]) -> float:
    """`steelyard.analysis.tests.independence.mann_kendall`; with ties or few values it is that."""
    count = len(values)
    if count < _FEWEST or count > independence.MOST_RANKED or _has_ties(values):
        return _real_mann_kendall(values)
    array = np.asarray(values)
    if count <= _MOST_PAIRED:
        score = int(np.sign(array[None, :] - array[:, None])[_pairs(count)].sum())
    else:
        found: Any = kendalltau(np.arange(count), array, method="asymptotic")
        score = round(found.statistic * count * (count - 1) / 2)
    variance = count * (count - 1) * (2 * count + 5) / 18
    return 1.0 if score == 0 else erfc((abs(score) - 1) / sqrt(variance) / sqrt(2.0))


@lru_cache
def _pairs(count: int) -> tuple[NDArray[np.intp], ...]:
    return np.triu_indices(count, 1)


def _has_ties(values: Sequence[float]) -> bool:
    return len(Counter(values)) < len(values)


def use_fast_tests() -> None:
    """Let this process, and those that it forks, make the tests by numpy."""
    hold_to_the_real_tests()
    independence.mann_kendall = mann_kendall
    independence.MANY = mean.MANY = _FEWEST


def hold_to_the_real_tests() -> None:
    """Compare with the tool's own on sequences of all sizes."""
    generator = np.random.default_rng(1)
    for count in (_FEWEST, 100, _MOST_PAIRED, 1000, 5000):
        for values in (generator.standard_normal(count), generator.standard_normal(count).cumsum()):
            found, real = mann_kendall(values.tolist()), _real_mann_kendall(values.tolist())
            if not isclose(found, real, rel_tol=1e-9, abs_tol=1e-300):
                raise AssertionError(f"Mann and Kendall's test of {count} values: {found}, {real}")
