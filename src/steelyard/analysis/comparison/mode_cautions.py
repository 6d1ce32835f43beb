"""Warnings of values that lie in several humps, which no mean describes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from steelyard.analysis.distributions.modes import Mode, modes_of
from steelyard.core.experiment_results import Caution
from steelyard.core.units import scale_for

if TYPE_CHECKING:
    from steelyard.analysis.variance.nested_values import NestedValues

# Deviations from the mean of fewer siblings do not show the modes of what they deviate by.
_FEWEST_SIBLINGS = 5
_MOST_DIGITS = 12


def mode_cautions(what: str, values: Sequence[float], unit: str) -> Iterable[Caution]:
    """The modes by name, where there are several.

    Parameters
    ----------
    what : str
        Such as ``wall_time of A``.
    values : sequence of float
    unit : str
        Of the values.
    """
    modes = modes_of(values)
    if len(modes) < 2:
        return
    named = [f"{100 * mode.share:.0f} % near {_place(mode, modes, unit)}" for mode in modes]
    yield Caution(
        "several-modes",
        f"The {len(values)} values of {what} lie in {len(modes)} humps: {', '.join(named)}. The "
        "mean describes none of them, and depends on how often each comes. Find what switches "
        "between them, such as a build, an alignment, a CPU or a state of the machine.",
    )


def _place(mode: Mode, modes: Sequence[Mode], unit: str) -> str:
    """The middle of a mode in the unit of the largest, with digits that tell it from the others."""
    largest = max(abs(one.place) for one in modes)
    apart = min(b.place - a.place for a, b in pairwise(modes))
    factor, name = scale_for(largest, unit)
    digits = 3
    while digits < _MOST_DIGITS and largest > apart * 10 ** (digits - 2):
        digits += 1
    whole = len(str(int(largest / factor)))
    return f"{mode.place / factor:.{max(0, digits - whole)}f} {name}".rstrip()


def level_mode_cautions(data: NestedValues, metric: str, unit: str) -> Iterable[Caution]:
    """The same of the units of every repeated level.

    The units of the highest repeated level stand for themselves; those of the levels below are
    brought to the mean of all first, since units above them that differ would look like modes.
    """
    from steelyard.analysis.variance.level_layers import layers_of

    unit_counts = data.unit_counts()
    repeated = [d for d, (above, own) in enumerate(pairwise((1, *unit_counts))) if own > above]
    layers = layers_of(data, repeated)
    for depth, layer in zip(reversed(repeated), layers, strict=True):
        level = data.levels[depth]
        if layer is layers[-1]:
            yield from mode_cautions(f"{metric} by {level}", layer.mean_of_means.tolist(), unit)
            continue
        if len(layer.parent) < _FEWEST_SIBLINGS * layer.parent_count:
            continue
        sizes = layer.gathered(layer.size)
        centre = layer.gathered(layer.size * layer.mean) / sizes
        values = layer.mean - centre[layer.parent] + float(data.values.mean())
        above = data.levels[depth - 1]
        what = f"{metric} by {level}, each {above} brought to the mean of all,"
        yield from mode_cautions(what, values.tolist(), unit)
