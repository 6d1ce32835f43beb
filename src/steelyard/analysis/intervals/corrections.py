"""P values and confidences that hold for many comparisons together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Each p times their number: the chance of any false alarm, whatever depends on what."""
    return [min(1.0, p * len(p_values)) for p in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """The same guarantee by steps, never above Bonferroni's.

    Holm, Scandinavian Journal of Statistics 6 (1979) 65.
    """
    count = len(p_values)
    order = sorted(range(count), key=p_values.__getitem__)
    found = [1.0] * count
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (count - rank) * p_values[index]))
        found[index] = highest
    return found


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The expected share of false alarms among those called different.

    Benjamini and Hochberg, J. R. Statist. Soc. B 57 (1995) 289: for tests that are independent
    or depend positively.
    """
    count = len(p_values)
    order = sorted(range(count), key=p_values.__getitem__, reverse=True)
    found = [1.0] * count
    lowest = 1.0
    for place, index in enumerate(order):
        lowest = min(lowest, p_values[index] * count / (count - place))
        found[index] = lowest
    return found


def uncorrected(p_values: Sequence[float]) -> list[float]:
    """As they are."""
    return list(p_values)


CORRECTIONS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": uncorrected,
}
