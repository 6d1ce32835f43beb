"""Does an effect go when an intervention holds fixed what is said to carry it?

Mytkowicz (2010), section 4.6.2, after Pearl: to confirm that a factor acts through something, hold
that fixed and vary the factor as before; if the effect goes, the explanation stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.cause.explanation_verdict import Terms, Verdict, share_in_unit, verdict_of
from steelyard.analysis.cause.level_spread import Spread, share_left, spread_of
from steelyard.analysis.intervals.fieller import paired_fieller
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.experiment_results import Caution
from steelyard.core.rng import derive_seed

Floats = NDArray[np.float64]
FEWEST_BLOCKS = 3
# A mean that the intervention changes by more than this is no longer the same program's.
_SIDE_EFFECT = 0.1


@dataclass(frozen=True)
class Arm:
    """The levels of the factor without or with the intervention.

    Parameters
    ----------
    name : str
    mean : float
        Over all levels, in the unit of the response.
    means : tuple of float
        Of each level, in the unit of the response.
    half_widths : tuple of float
        Of an interval of each level's mean against the mean of all.
    spread : Interval
        Standard deviation between levels: the effect of the factor, on the scale of the result.
    noise : float
        Standard deviation of one value around its level and block, on the same scale.
    range : float
        From the lowest level to the highest, on the same scale.
    statistic, p : float
    degrees : (float, float)
        Of the test that all levels are alike.
    """

    name: str
    mean: float
    means: tuple[float, ...]
    half_widths: tuple[float, ...]
    spread: Estimate
    noise: float
    range: float
    statistic: float
    p: float
    degrees: tuple[float, float]


@dataclass(frozen=True)
class Interaction:
    """By how much the effects of the levels differ between the arms, and whether they do."""

    spread: Estimate
    statistic: float
    p: float
    degrees: tuple[float, float]


@dataclass(frozen=True)
class Intermediate:
    """What is said to carry the effect: it must move without the intervention, and rest with it.

    `without` and `held` are its standard deviation between levels, in its own unit.
    """

    name: str
    without: Estimate
    held: Estimate
    moves: bool
    rests: bool


@dataclass(frozen=True)
class Cause:
    """The answer of a causal analysis.

    Parameters
    ----------
    factor, intervention, response, unit : str
    relative : bool
        Whether spreads are shares of the mean of their arm; else they are in `unit`.
    levels : tuple of str
    block_count : int
        Complete blocks, which alone count.
    verdict : str
    reason : str
        Why: a stable code.
    without, held : Arm or None
        None where too little was measured.
    interaction : Interaction or None
    left : Interval or None
        The share of the variance between levels that the intervention leaves, on the scale of the
        spreads.
    left_in_unit : Interval or None
        The same share of the variance in the unit of the response.
    mean_ratio : Interval or None
        With / without the intervention, of the mean over all levels.
    intermediate : Intermediate or None
    """

    kind: ClassVar[str] = "cause"

    factor: str
    intervention: str
    response: str
    unit: str
    relative: bool
    levels: tuple[str, ...]
    block_count: int
    terms: Terms
    verdict: Verdict
    reason: str
    without: Arm | None = None
    held: Arm | None = None
    interaction: Interaction | None = None
    left: Interval | None = None
    left_in_unit: Interval | None = None
    mean_ratio: Interval | None = None
    intermediate: Intermediate | None = None
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class Names:
    """What the answer calls things."""

    factor: str
    intervention: str
    response: str
    unit: str
    levels: tuple[str, ...]
    arms: tuple[str, str]
    intermediate: str | None = None


def causal_analysis(
    names: Names, values: Floats, terms: Terms, intermediate: Floats | None = None
) -> Cause:
    """Judge an explanation by the values of both arms.

    Parameters
    ----------
    names : Names
    values : array of shape (blocks, levels, 2)
        Of complete blocks; the second of the last axis is with the intervention.
    terms : Terms
    intermediate : array, optional
        What the intervention is to hold, of the same shape.

    Notes
    -----
    The effect is judged on two scales: as a share of each arm's mean, and in the unit of the
    response. An intervention that changes the mean much makes one of them go where the other
    stays, and there is no verdict then.

    Blocks are independent, their effects additive within an arm, and what is left is normal with
    one variance for each arm. The interaction is tested on the differences between the arms within
    blocks, so that the arms may differ in variance.
    """
    blocks, levels, _ = values.shape
    # A clock that ticks gives some short runs no time at all: their mean is still one.
    relative = bool((values >= 0).all() and (values.mean(axis=(0, 1)) > 0).all())
    head = (names.factor, names.intervention, names.response, names.unit, relative, names.levels)
    if levels < 2 or blocks < FEWEST_BLOCKS:
        reason = "one-level" if levels < 2 else "few-blocks"
        return Cause(*head, blocks, terms, "cannot-tell", reason)
    generator = np.random.default_rng(derive_seed(terms.seed, "cause"))
    scale = values.mean(axis=(0, 1)) if relative else np.ones(2)
    scaled = values / scale
    spreads = [spread_of(scaled[:, :, arm], generator) for arm in (0, 1)]
    arms = [
        _arm(names.arms[arm], values[:, :, arm], spreads[arm], float(scale[arm]), terms)
        for arm in (0, 1)
    ]
    crossed = spread_of(scaled[:, :, 1] - scaled[:, :, 0], generator)
    left = share_left(spreads[0], spreads[1], terms.confidence)
    left_in_unit = share_in_unit(left, (float(scale[0]), float(scale[1])))
    verdict, reason = verdict_of(arms[0].spread, left, left_in_unit, terms)
    carried = None
    if intermediate is not None and names.intermediate is not None:
        carried = _intermediate(names.intermediate, intermediate, terms, generator)
    ratio = _mean_ratio(values, terms) if relative else None
    return Cause(
        *head,
        blocks,
        terms,
        verdict,
        reason,
        without=arms[0],
        held=arms[1],
        interaction=Interaction(
            crossed.interval(terms.confidence), crossed.statistic, crossed.p, crossed.degrees
        ),
        left=left,
        left_in_unit=left_in_unit,
        mean_ratio=ratio,
        intermediate=carried,
        cautions=tuple(_cautions(arms, ratio, carried)),
    )


def _mean_ratio(values: Floats, terms: Terms) -> Interval:
    means = values.mean(axis=1)
    return paired_fieller(means[:, 0].tolist(), means[:, 1].tolist(), terms.confidence)


def _arm(name: str, values: Floats, spread: Spread, scale: float, terms: Terms) -> Arm:
    from steelyard.analysis.distributions.table_distributions import t_quantile

    quantile = t_quantile(0.5 + terms.confidence / 2, spread.degrees[1])
    half_width = quantile * (spread.noise_variance / len(values)) ** 0.5 * scale
    means = values.mean(axis=0).tolist()
    return Arm(
        name=name,
        mean=float(values.mean()),
        means=tuple(means),
        half_widths=(half_width,) * len(means),
        spread=spread.interval(terms.confidence),
        noise=spread.noise_variance**0.5,
        range=(max(means) - min(means)) / scale,
        statistic=spread.statistic,
        p=spread.p,
        degrees=spread.degrees,
    )


def _intermediate(
    name: str, values: Floats, terms: Terms, generator: np.random.Generator
) -> Intermediate:
    without, held = (spread_of(values[:, :, arm], generator) for arm in (0, 1))
    alpha = 1 - terms.confidence
    # What rests may still move by rounding; an F test alone would call that a movement.
    rests = held.p > alpha or held.variance <= terms.tolerance * without.variance * alpha
    return Intermediate(
        name,
        without.interval(terms.confidence),
        held.interval(terms.confidence),
        moves=without.p <= alpha,
        rests=rests,
    )


def _cautions(
    arms: Sequence[Arm], ratio: Interval | None, carried: Intermediate | None
) -> list[Caution]:
    found: list[Caution] = []
    if carried is not None and not carried.moves:
        found.append(
            Caution(
                "intermediate-still",
                f"The factor does not move {carried.name}, so that it can carry no effect.",
            )
        )
    if carried is not None and carried.moves and not carried.rests:
        found.append(
            Caution(
                "intermediate-moves",
                f"With the intervention {carried.name} still moves with the factor: it does not "
                "hold what it is to hold.",
            )
        )
    if isinstance(ratio, Estimate) and not 1 - _SIDE_EFFECT <= ratio.estimate <= 1 + _SIDE_EFFECT:
        found.append(
            Caution(
                "side-effect",
                f"The intervention changes the mean by a factor of {ratio.estimate:.2f}: it may do "
                "more than hold one thing. Where levels differ much, holding one of the places "
                "that they take does that by itself.",
            )
        )
    if arms[1].noise > 2 * arms[0].noise > 0:
        found.append(
            Caution(
                "noisier-arm",
                f"Values vary {arms[1].noise / arms[0].noise:.1f} times as much with the "
                "intervention: it hides the effect rather than taking it away, if it draws at "
                "random what it should hold.",
            )
        )
    return found
