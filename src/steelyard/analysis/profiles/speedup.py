"""Whether making a function faster brings the gain that profiles promise.

Mytkowicz (2010), section 3.5.3: a method that a profiler named was mended in two programs (pmd and
bloat), and the profiler's share of it set against what the programs gained. The gain is the part of
the program's time that the mended build saves. What a profile promises is the time that it takes
from the function, s0 T0 - s1 T1 for shares s of the program's times T before and after; or, where
it is only known how many times as fast the function is, s0 (1 - 1/K) of the program's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.fieller import RATIO_METHOD, paired_fieller
from steelyard.analysis.intervals.mean import mean_interval, mean_of, one_value, variance_of
from steelyard.analysis.profiles.causality_slopes import AS_GOOD, KNOWN_WELL
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution

Verdict = Literal["predicts", "too-much", "too-little", "undecided"]
# A gain counts where chance alone would bring it once in a thousand times, as for a causal slope.
_CLEARLY = 0.999


@dataclass(frozen=True)
class BlockTimes:
    """Processor times of one run of the program and one of the mended build, in seconds."""

    before_s: float
    after_s: float


@dataclass(frozen=True)
class BlockShares:
    """The function's share by one profiler in the same block; `after` is None where the mended
    build was not profiled."""

    before: float
    after: float | None = None


@dataclass(frozen=True)
class Promise:
    """What one profiler promised, and what became of it.

    Parameters
    ----------
    profiler : str
    rank : int or None
        The function's place among all by the mean share before; None where it was never seen.
    share : Interval
        Of the function before: the most that can be gained.
    gain : Interval
        What is promised, as a part of the program's time before.
    ratio : Interval
        Promised / measured gain; Unbounded where there is no gain clear of noise.
    rest : Interval or None
        By how much everything but the function changed, as a ratio of what it took: -0.02 is 2 %
        less. None where the mended build was not profiled.
    verdict : str
    blocks : tuple of BlockShares
    """

    profiler: str
    rank: int | None
    share: Interval
    gain: Interval
    ratio: Interval
    rest: Interval | None
    verdict: Verdict
    blocks: tuple[BlockShares, ...]


@dataclass(frozen=True)
class Speedup:
    """A mended function, the gain that it brought, and the gains that profilers promised.

    `factor` is how many times as fast the function is said to have become, or None; `gain` is the
    measured one, as a part of the program's time before.
    """

    function: str
    factor: float | None
    before_s: Interval
    after_s: Interval
    gain: Interval
    promises: tuple[Promise, ...]
    blocks: tuple[BlockTimes, ...]
    cautions: tuple[Caution, ...]


@dataclass(frozen=True)
class ProfiledBlocks:
    """What one profiler said in each block, and the function's rank by it."""

    profiler: str
    rank: int | None
    shares: tuple[BlockShares, ...]


def speedup(
    function: str,
    times: Sequence[BlockTimes],
    profiled: Sequence[ProfiledBlocks],
    factor: float | None = None,
    confidence: float = 0.95,
) -> Speedup:
    """Set what profilers promised against what was gained.

    Every ratio is Fieller's within blocks (`paired_fieller`), so that a machine that is slow for a
    whole block cancels. Assumes independent blocks and means of them that are about normal.

    Parameters
    ----------
    function : str
    times : sequence of BlockTimes
        Of the program alone, one a block; at least one.
    profiled : sequence of ProfiledBlocks
        As many shares each as there are blocks.
    factor : float, optional
        More than 1. Without it every `BlockShares` has its share after.
    """
    before = [item.before_s for item in times]
    after = [item.after_s for item in times]
    return Speedup(
        function=function,
        factor=factor,
        before_s=mean_interval(before, confidence),
        after_s=mean_interval(after, confidence),
        gain=_shifted(paired_fieller(before, after, confidence), sign=-1),
        promises=tuple(_promise(item, times, factor, confidence) for item in profiled),
        blocks=tuple(times),
        cautions=tuple(_cautions(function, profiled)),
    )


def verdict_of(ratio: Interval) -> Verdict:
    """What promised / measured gain says of the profiler."""
    if not isinstance(ratio, Estimate):
        return "undecided"
    if ratio.low > 1 + AS_GOOD:
        return "too-much"
    if ratio.high < 1 - AS_GOOD:
        return "too-little"
    return "predicts" if ratio.half_width <= KNOWN_WELL else "undecided"


def hidden_gain(times: Sequence[BlockTimes], confidence: float) -> Unbounded | None:
    """Why no promise can be set against the gain; None where the gain is clear of noise.

    Student's test of the saved time within blocks, one-sided at one in a thousand.
    """
    saved_s = [item.before_s - item.after_s for item in times]
    if len(saved_s) < 2:
        return one_value(None, confidence, RATIO_METHOD)
    saved, whole = mean_of(saved_s), mean_of([item.before_s for item in times])
    quantile = student_quantile(_CLEARLY, len(saved_s) - 1)
    chance = quantile * sqrt(variance_of(saved_s) / len(saved_s))
    if saved > chance and whole > 0:
        return None
    if saved < -chance:
        said = f"The mended build takes {-100 * saved / whole:.1f} % longer: nothing was gained."
        return Unbounded(None, confidence, RATIO_METHOD, "no-gain", said)
    percent = 100 / whole if whole > 0 else 0.0
    said = (
        f"The gain of {percent * saved:.1f} % is not clear of noise, which brings "
        f"{percent * chance:.1f} % once in a thousand times; a quieter machine or more runs "
        "would tell."
    )
    return Unbounded(None, confidence, RATIO_METHOD, "noise", said)


def _promise(
    profiled: ProfiledBlocks, times: Sequence[BlockTimes], factor: float | None, confidence: float
) -> Promise:
    pairs = list(zip(times, profiled.shares, strict=True))
    promised_s = [_promised_s(time, share, factor) for time, share in pairs]
    before = [time.before_s for time in times]
    share = mean_interval([item.before for item in profiled.shares], confidence)
    ratio = _kept(times, promised_s, confidence)
    return Promise(
        profiler=profiled.profiler,
        rank=profiled.rank,
        share=share,
        gain=paired_fieller(before, promised_s, confidence)
        if factor is None
        else _scaled(share, 1 - 1 / factor),
        ratio=ratio,
        rest=_rest(pairs, confidence) if factor is None else None,
        verdict=verdict_of(ratio),
        blocks=profiled.shares,
    )


def _promised_s(time: BlockTimes, share: BlockShares, factor: float | None) -> float:
    """The time that the profile says is saved in one block."""
    if factor is not None:
        return share.before * time.before_s * (1 - 1 / factor)
    return share.before * time.before_s - (share.after or 0.0) * time.after_s


def _kept(times: Sequence[BlockTimes], promised_s: Sequence[float], confidence: float) -> Interval:
    """Promised / measured gain, where the measured one is clear of noise."""
    hidden = hidden_gain(times, confidence)
    if hidden is not None:
        return hidden
    ratio = paired_fieller([t.before_s - t.after_s for t in times], promised_s, confidence)
    if isinstance(ratio, Estimate):
        return ratio
    said = "The gain is not clear of noise at this confidence; more runs would tell."
    return replace(ratio, reason="noise", explanation=said)


def _rest(pairs: Sequence[tuple[BlockTimes, BlockShares]], confidence: float) -> Interval:
    before = [time.before_s * (1 - share.before) for time, share in pairs]
    after = [time.after_s * (1 - (share.after or 0.0)) for time, share in pairs]
    return _shifted(paired_fieller(before, after, confidence))


def _shifted(ratio: Interval, sign: int = 1) -> Interval:
    """`ratio` - 1, or 1 - `ratio` with a sign of -1."""
    if isinstance(ratio, Estimate):
        low, high = sorted((sign * (ratio.low - 1), sign * (ratio.high - 1)))
        return replace(ratio, estimate=sign * (ratio.estimate - 1), low=low, high=high)
    if ratio.estimate is None:
        return ratio
    return replace(ratio, estimate=sign * (ratio.estimate - 1))


def _scaled(value: Interval, factor: float) -> Interval:
    if isinstance(value, Estimate):
        return replace(
            value,
            estimate=factor * value.estimate,
            low=factor * value.low,
            high=factor * value.high,
        )
    return value if value.estimate is None else replace(value, estimate=factor * value.estimate)


def _cautions(function: str, profiled: Sequence[ProfiledBlocks]) -> list[Caution]:
    """Profilers that see the function before and never after: it may only go by another name."""
    gone = [
        item.profiler
        for item in profiled
        if any(share.before for share in item.shares)
        and all(share.after == 0 for share in item.shares)
    ]
    if not gone:
        return []
    said = (
        f"{function} is not in the mended build's profiles by {', '.join(gone)}. Where it was "
        "inlined or renamed there, its time counts for other functions and too much is promised; "
        "--factor needs no profile of the mended build."
    )
    return [Caution("function-gone", said)]
