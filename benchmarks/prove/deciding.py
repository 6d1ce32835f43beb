"""Where the tool's rule to stop ends a comparison that runs until its verdict is decided.

A twin of `steelyard.analysis.comparison.stopping.Stopping` for two variants that looks at all
blocks at once;
`held_to_the_real_rule` compares it with the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.comparison.ratio_verdict import decide
from steelyard.analysis.comparison.stopping import Stopping, first_look, next_confirmation
from steelyard.analysis.intervals.error_spending import (
    sequence_quantile,
    sequence_widening,
    spending_of,
)
from steelyard.analysis.intervals.fieller import paired_fieller
from steelyard.analysis.intervals.paired_ratio import confirming_interval
from steelyard.core.estimate import Interval
from steelyard.core.stopping_spec import StoppingSpec

Array = NDArray[np.float64]
Confirming = Callable[[Sequence[float], Sequence[float], float, float], Interval | None]
CONFIDENCE, MARGIN = 0.95, 0.01
_ENDS = (1.0 - MARGIN, 1.0 + MARGIN)


@lru_cache(maxsize=8)
def _quantiles(confidence: float, count: int) -> Array:
    """The quantile of the confidence sequence at every number of blocks."""
    return np.array([sequence_quantile(confidence, n) for n in range(1, count + 1)])


def _spent(spec: StoppingSpec) -> float:
    return spending_of(spec, "decided").confidence(CONFIDENCE)


def decided_at(columns: Array, spec: StoppingSpec) -> NDArray[np.bool_]:
    """At which numbers of blocks the interval for independent blocks decides the verdict.

    Fieller's interval decides where it contains neither end of the margin: where the contrast with
    each end is farther from 0 than its quantile.

    Parameters
    ----------
    columns : array, shape (2, blocks)
    spec : StoppingSpec
        Until decided, with the looks before it.
    """
    x, y = columns - 1.0
    quantiles = _quantiles(_spent(spec), columns.shape[1])
    beyond = [_beyond(y - theta * x + 1.0 - theta, quantiles) for theta in _ENDS]
    return beyond[0] & beyond[1]


def _beyond(contrasts: Array, quantiles: Array) -> NDArray[np.bool_]:
    counts = np.arange(1, len(contrasts) + 1)
    means = contrasts.cumsum() / counts
    squares = (contrasts**2).cumsum() - counts * means**2
    errors = np.sqrt(np.maximum(squares, 0.0) / np.maximum(counts - 1, 1) / counts)
    with np.errstate(invalid="ignore"):  # Too few blocks have no quantile.
        return np.abs(means) > quantiles * errors


def end_of(
    columns: Array,
    spec: StoppingSpec,
    start: int,
    decided: NDArray[np.bool_],
    confirming: Confirming = confirming_interval,
) -> int | None:
    """The number of blocks after which the rule ends a session that begins after `start`.

    Parameters
    ----------
    columns : array, shape (2, blocks)
        As many as the session may have in all.
    spec : StoppingSpec
    start : int
    decided : array of bool
        `decided_at` of these columns, or of more blocks.
    confirming : callable
        From the columns, the confidence and the widening to the interval that must decide too.

    Returns
    -------
    int or None
        None where it does not end by its verdict.
    """
    next_asked = max(first_look(spec), start + 1)
    for count in (np.flatnonzero(decided[: columns.shape[1]]) + 1).tolist():
        if count < next_asked:
            continue
        if _confirmed(columns[:, :count], spec, confirming):
            return count
        next_asked = next_confirmation(count)
    return None


def _confirmed(columns: Array, spec: StoppingSpec, confirming: Confirming) -> bool:
    """Whether the interval that allows for dependence, where one is asked for, decides too."""
    each, (baseline, candidate) = _spent(spec), columns.tolist()
    widening = sequence_widening(each, len(baseline))
    found = confirming(baseline, candidate, each, widening)
    return found is None or decide(found, MARGIN, "lower") != "undecided"


def independent_interval(columns: Array, spec: StoppingSpec) -> Interval:
    """The interval of the confidence sequence that does not allow for dependence."""
    each, (baseline, candidate) = _spent(spec), columns.tolist()
    quantile = sequence_quantile(each, len(baseline))
    return paired_fieller(baseline, candidate, CONFIDENCE, quantile)


def real_end(columns: Array, spec: StoppingSpec, start: int) -> int | None:
    """The same by the tool's own rule, block by block."""
    rule = Stopping(spec, 2, CONFIDENCE, MARGIN)
    for count, row in enumerate(columns.T.tolist(), start=1):
        rule.add_block(row)
        if count > start and rule.look().done:
            return count
    return None


def held_to_the_real_rule(columns: Array, spec: StoppingSpec, start: int, end: int | None) -> None:
    """Stop the proof where the twin and the real rule part."""
    if real_end(columns, spec, start) != end:
        raise AssertionError(f"the twin ends elsewhere than Stopping: {spec}, after {start} blocks")
