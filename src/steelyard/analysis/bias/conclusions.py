"""What is said of a program over its setups, in words."""

from __future__ import annotations

from steelyard.analysis.bias.setup_ratios import Flip, SetupRatios
from steelyard.analysis.tables.table_analysis import Test


def conclusion(
    found: SetupRatios, flip: Flip, differ: Test | None, over: str, confidence: float
) -> str:
    """Whether the sign of a ratio flips, and what setups vary by.

    Parameters
    ----------
    found : SetupRatios
    flip : Flip
        Of these ratios.
    differ : Test or None
        Whether setups differ at all; None where that cannot be tested.
    over : str
        What the ratio is of.
    confidence : float
    """
    return f"{_of_the_sign(found, flip, over)}{_of_the_variation(flip, differ, confidence)}."


def _of_the_sign(found: SetupRatios, flip: Flip, over: str) -> str:
    count = len(found.ratios)
    if count == 1:
        return (
            f"{over} is {found.ratios[0]:.4f} in the only setup: whether another would turn its "
            "sign cannot be told"
        )
    span = (
        f"{over} lies between {found.ratios.min():.4f} and {found.ratios.max():.4f} over {count} "
        "setups"
    )
    if flip.flips is False:
        text = f"{span}, all on one side of 1: its sign did not flip"
    elif flip.flips:
        text = (
            f"{span}. Its sign flips: {flip.surely_below} setups are below 1 and "
            f"{flip.surely_above} above it, beyond noise"
        )
    elif flip.surely_below is None:
        text = (
            f"{span}, {flip.below} below 1 and {flip.above} above it. Whether that is more than "
            "noise cannot be told: repeat trials within setups"
        )
    else:
        text = (
            f"{span}, {flip.below} below 1 and {flip.above} above it, but not on both sides beyond "
            "noise"
        )
    return text


def _of_the_variation(flip: Flip, differ: Test | None, confidence: float) -> str:
    """What setups vary by, and what follows; nothing where their trials were not repeated."""
    if flip.predicted_share is None or not flip.between:
        return ""
    varies = f". Between setups it varies by {100 * flip.between:.2f} % without noise"
    if differ is not None and differ.p is not None and differ.p > 1 - confidence:
        return f"{varies}, which may be chance (p = {differ.p:.2f}): more setups would tell"
    return (
        f"{varies}, so that about {100 * flip.predicted_share:.0f} % of all setups would "
        "contradict the mean"
    )
