"""Whether groups vary alike: Levene's test, and Brown and Forsythe's."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import f_upper_p
from steelyard.analysis.tables.table_analysis import Test

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_NAMES = {"mean": "Levene", "median": "Brown-Forsythe"}


def levene(values: Floats, group: Integers, centre: Literal["mean", "median"]) -> Test | None:
    """Analysis of variance of the distances from each group's mean or median.

    Parameters
    ----------
    values, group : array
        The values, and for each the index of its group; every group has a value.
    centre : str
        ``"mean"``: Levene (1960). ``"median"``: Brown and Forsythe, J. Amer. Statist. Assoc. 69
        (1974) 364, which holds for skewed values too.

    Returns
    -------
    Test or None
        None for fewer than two groups, no group with two values, or where distances do not
        vary within groups.
    """
    counts = np.bincount(group)
    group_count, count = len(counts), len(values)
    if group_count < 2 or count <= group_count:
        return None
    middle = group_medians(values, group) if centre == "median" else _means(values, group, counts)
    distances = np.abs(values - middle[group])
    means = _means(distances, group, counts)
    between = float(counts @ (means - distances.mean()) ** 2)
    within = float(((distances - means[group]) ** 2).sum())
    if not within > 1e-25 * max(between, 1e-300):
        return None
    degrees = (float(group_count - 1), float(count - group_count))
    statistic = (between / degrees[0]) / (within / degrees[1])
    return Test(_NAMES[centre], statistic, degrees, f_upper_p(statistic, *degrees))


def _means(values: Floats, group: Integers, counts: Integers) -> Floats:
    return np.bincount(group, values, minlength=len(counts)) / counts


def group_medians(values: Floats, group: Integers) -> Floats:
    """The median of each group."""
    order = np.lexsort((values, group))
    ordered = values[order]
    counts = np.bincount(group)
    starts = np.cumsum(counts) - counts
    upper = ordered[starts + counts // 2]
    lower = ordered[starts + (counts - 1) // 2]
    return (lower + upper) / 2
