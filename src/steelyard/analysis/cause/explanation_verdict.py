"""The verdict on an explanation, by the share of the effect that an intervention leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from steelyard.core.estimate import Estimate, Interval

Verdict = Literal[
    "supported", "not-supported", "nothing-to-explain", "changes-too-much", "cannot-tell"
]
# Of the variance between levels: a quarter of it is half of their spread.
TOLERANCE = 0.25
# Of the mean: a smaller spread is not worth an explanation, as a ratio within 1 % is equivalent.
MARGIN = 0.01


@dataclass(frozen=True)
class Terms:
    """What a verdict is held to.

    Parameters
    ----------
    confidence : float
    tolerance : float
        The explanation stands where surely no more than this share of the variance is left.
    margin : float
        A spread below it is nothing to explain; as a share of the mean, or in the unit of the
        response where that is negative somewhere.
    seed : int
    """

    confidence: float = 0.95
    tolerance: float = TOLERANCE
    margin: float = MARGIN
    seed: int = 1


def share_in_unit(left: Interval, scale: tuple[float, float]) -> Interval:
    """The share of the variance that is left, in the unit of the response.

    Parameters
    ----------
    left : Interval
        Of spreads that were divided by `scale`.
    scale : (float, float)
        Without and with the intervention; taken for exact, as the shares of the mean are.
    """
    factor = (scale[1] / scale[0]) ** 2
    if isinstance(left, Estimate):
        return replace(
            left, estimate=left.estimate * factor, low=left.low * factor, high=left.high * factor
        )
    return replace(left, estimate=None if left.estimate is None else left.estimate * factor)


def verdict_of(
    spread: Estimate, left: Interval, left_in_unit: Interval, terms: Terms
) -> tuple[Verdict, str]:
    """The verdict and its reason; what noise hides is refused.

    Parameters
    ----------
    spread : Estimate
        Of the levels without the intervention.
    left, left_in_unit : Interval
        The share of the variance that the intervention leaves, on both scales.
    terms : Terms
    """
    if spread.high < terms.margin or spread.high == 0:
        return "nothing-to-explain", "no-effect"
    if spread.low == 0 or not isinstance(left, Estimate) or not isinstance(left_in_unit, Estimate):
        return "cannot-tell", "effect-hidden"
    shares = (left, left_in_unit)
    gone = [share.high <= terms.tolerance for share in shares]
    stays = [share.low > terms.tolerance for share in shares]
    if all(gone):
        return "supported", "effect-goes"
    if all(stays):
        smaller = all(share.high < 1 for share in shares)
        return "not-supported", "effect-smaller" if smaller else "effect-stays"
    if any(gone) and any(stays):
        return "changes-too-much", "scales-disagree"
    return "cannot-tell", "rest-hidden"
