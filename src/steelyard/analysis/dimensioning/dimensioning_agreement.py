"""Whether what an experiment shows of its variation agrees with the initial one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.analysis.variance.nested_values import NestedValues
from steelyard.analysis.variance.variance_components import LevelVariance, variance_components
from steelyard.core.experiment_results import Caution
from steelyard.core.repetition import DimensionedBy, MeanSquare

# All levels together are found to disagree by chance in so many of experiments that agree.
LEVEL = 0.01


@dataclass(frozen=True)
class LevelAgreement:
    """One level of both experiments.

    `seen_ratio` and `expected_ratio` are the variances of the level's means, relative to the mean
    squared, at the counts of the later experiment; `p` that of their being the same.
    """

    level: str
    seen_ratio: float
    expected_ratio: float
    p: float


def mean_squares(levels: Sequence[LevelVariance], mean: float) -> tuple[MeanSquare, ...]:
    """The variances of each repeated level's means, to be kept for later comparison."""
    return tuple(
        MeanSquare(found.level, found.mean_count, found.biased_variance / mean**2, found.degrees)
        for found in levels
        if found.biased_variance is not None and found.degrees is not None
    )


def agreement(initial: Sequence[MeanSquare], later: NestedValues) -> tuple[LevelAgreement, ...]:
    """Test each level that both experiments repeated.

    Parameters
    ----------
    initial : sequence of MeanSquare
        Highest first, as `mean_squares` gives them.
    later : NestedValues
        Of the later experiment.

    Notes
    -----
    The variance S_i^2 of a level's means in the later experiment is compared with what the initial
    one has it expect at the later counts: with ``E_i = T_i^2 + E_(i-1) / r_(i-1)`` and
    ``T_i^2 = S_i^2 - S_(i-1)^2 / r_(i-1)`` (Kalibera and Jones, ISMM 2013, equation 2), a sum of
    the initial mean squares whose degrees are Satterthwaite's. The ratio is then about F, for
    normal values; degrees allow for heavy tails below the top level (`degrees_of_freedom`).
    """
    from steelyard.analysis.distributions.table_distributions import f_upper_p

    components = variance_components(later, confidence=0.95)
    mean = components.mean.estimate
    if not mean:
        return ()
    seen = {item.level: item for item in mean_squares(components.levels, mean)}
    if any(item.level not in seen for item in initial[:1]):
        return ()
    found: list[LevelAgreement] = []
    for item, expected in zip(initial, _expected(initial, components.levels), strict=True):
        now = seen.get(item.level)
        value, degrees = expected
        if now is None or value <= 0 or now.square_ratio <= 0:
            continue
        ratio = now.square_ratio / value
        upper = f_upper_p(ratio, now.degrees, degrees)
        p = min(1.0, 2 * min(upper, 1 - upper))
        found.append(LevelAgreement(item.level, now.square_ratio, value, p))
    return tuple(found)


def _expected(
    initial: Sequence[MeanSquare], levels: Sequence[LevelVariance]
) -> list[tuple[float, float]]:
    """For each initial level, its mean square at the later counts, and the degrees of that."""
    counts: Mapping[str, float] = {level.level: level.mean_count for level in levels}
    weights: list[list[float]] = []
    for place in reversed(range(len(initial))):
        own = [0.0] * len(initial)
        own[place] = 1.0
        if weights:
            below = initial[place + 1]
            own[place + 1] -= 1.0 / below.count
            now = counts.get(below.level, 1.0)
            own = [a + b / now for a, b in zip(own, weights[-1], strict=True)]
        weights.append(own)
    return [_with_degrees(initial, own) for own in reversed(weights)]


def _with_degrees(initial: Sequence[MeanSquare], weights: Sequence[float]) -> tuple[float, float]:
    parts = [w * item.square_ratio for w, item in zip(weights, initial, strict=True)]
    value = sum(parts)
    spread = sum(part * part / item.degrees for part, item in zip(parts, initial, strict=True))
    return value, value * value / spread if spread > 0 else float("inf")


def agreement_cautions(
    by: DimensionedBy, found: Sequence[LevelAgreement], what: str
) -> Iterable[Caution]:
    """What to say of levels that disagree: all of them together are wrong in 1 % of cases."""
    for item in found:
        if item.p < LEVEL / len(found):
            times = (item.seen_ratio / item.expected_ratio) ** 0.5
            yield Caution(
                "dimensioning-disagrees",
                f"{what}: the means of {item.level} vary {times:.2g} times as much as the initial "
                f"experiment {by.experiment} has it expect ({100 * item.seen_ratio**0.5:.2g} % of "
                f"the mean, not {100 * item.expected_ratio**0.5:.2g} %; p = {item.p:.2g}). The "
                "intervals hold, but the counts may not be the best ones any more: dimension it "
                "anew.",
            )
