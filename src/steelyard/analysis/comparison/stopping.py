"""When a running experiment is precise enough, and what stopping by that does to intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, fsum, inf, sqrt

from steelyard.analysis.comparison.block_moments import BlockMoments, contrast_correlations
from steelyard.analysis.comparison.ratio_verdict import Quantiles, decide, further_blocks
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.error_spending import (
    ONE_LOOK,
    Spending,
    sequence_quantile,
    sequence_widening,
    spending_of,
)
from steelyard.analysis.intervals.fieller import RATIO_METHOD, fieller_interval, with_sign
from steelyard.analysis.intervals.johnson import stretched
from steelyard.analysis.intervals.mean import MEAN_METHOD, one_value, two_sided
from steelyard.analysis.intervals.simultaneous import (
    one_factor,
    sidak_quantile,
    simultaneous_quantile,
)
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.stopping_spec import StoppingSpec

# An experiment that stops when its interval has become narrow stops too early when it
# underrates the variance by chance. Widening by 1 + 2 / (m n) after the first look, with m
# ratios that must all be narrow, mends the coverage to about 95 % at every n; simulated in
# docs/STATISTICS.md. The form, a quantile corrected in 1 / n, is that of Anscombe,
# J. R. Statist. Soc. B 15 (1953) 1.
_WIDENING = 2.0
# It comes in over the blocks after the first look: at once, a program that misses that look by a
# hair would pay a third more blocks.
_RAMP_BLOCKS = 10
# With fewer the variance is so uncertain that no such correction holds (same simulation).
_FEWEST_BLOCKS = 5
_MOST_BLOCKS = 10_000_000

# Variants that are one side of a comparison.
Side = tuple[int, ...]


def first_look(spec: StoppingSpec) -> int:
    """The number of blocks at which an experiment may first stop by its precision."""
    return max(_FEWEST_BLOCKS, spec.minimum_blocks)


def next_confirmation(block_count: int) -> int:
    """When a verdict that these blocks did not confirm is asked again: each reads all of them."""
    return max(block_count + 1, floor(1.1 * block_count))


def widening_after(block_count: int, spec: StoppingSpec, comparison_count: int = 1) -> float:
    """What quantiles are multiplied by when an experiment stops because it is precise enough.

    Parameters
    ----------
    block_count : int
        Complete blocks at that time.
    spec : StoppingSpec
    comparison_count : int
        Ratios that all had to be precise enough; 1 for a mean.
    """
    if spec.rule != "precision" or block_count <= first_look(spec):
        return 1.0
    begun = min(1.0, (block_count - first_look(spec)) / _RAMP_BLOCKS)
    return 1.0 + begun * _WIDENING / (max(1, comparison_count) * block_count)


@dataclass(frozen=True)
class Look:
    """How far a running experiment is.

    Parameters
    ----------
    block_count : int
        Blocks so far.
    intervals : tuple of Interval
        Of each ratio, or of the mean with one variant.
    half_width_ratios : tuple of float or None
        Half-width of each interval: in units of the ratio, or relative to the mean. None where
        there is no bound yet.
    done : bool
        Whether it is precise enough, every verdict is decided, or all blocks that were asked for
        are there.
    blocks_needed : int or None
        Blocks in all at which it is likely to be done; None where that cannot be told.
    """

    block_count: int
    intervals: tuple[Interval, ...]
    half_width_ratios: tuple[float | None, ...]
    done: bool
    blocks_needed: int | None


class Stopping:
    """Follows a running experiment and says when it may stop.

    Parameters
    ----------
    spec : StoppingSpec
    variant_count : int
        The first variant is the baseline.
    confidence : float
    margin_ratio : float
        Of the verdicts, for an experiment that runs until they are decided.
    comparison_count : int, optional
        Ratios that hold together. Of a single variant: those that its mean, run by itself, will
        be part of; 0, as without it, for a mean alone.

    Notes
    -----
    Adding a block takes microseconds; so does a look, but for three or more variants near
    their end, where the simultaneous quantile takes a tenth of a millisecond. Blocks in which a
    variant failed count as run and give no value. One instance follows one metric.

    Until verdicts are decided, intervals are those of a confidence sequence, with the quantile
    that holds for contrasts that do not correlate: the answer's are as wide or narrower. Before
    it ends, dependence of the blocks is allowed for as the answer allows for it, and below 20
    blocks, which cannot show it, as if they remembered what they may.
    """

    def __init__(
        self,
        spec: StoppingSpec,
        variant_count: int,
        confidence: float = 0.95,
        margin_ratio: float = 0.0,
        comparison_count: int | None = None,
    ) -> None:
        self.spec = spec
        self.variant_count = variant_count
        self.confidence = confidence
        self.margin_ratio = margin_ratio
        self.block_count = 0
        self._comparison_count = variant_count - 1 if comparison_count is None else comparison_count
        self._spending = _spending(spec, self._comparison_count)
        self._spent_confidence = self._spending.confidence(confidence)
        self._complete = BlockMoments(variant_count)
        self._third = 0.0
        self._values: list[Sequence[float]] = []
        self._next_confirmation = 0

    def add_block(self, values: Sequence[float | None]) -> None:
        """Takes one value per variant, in their order; None for one that failed."""
        self.block_count += 1
        present = [value for value in values if value is not None]
        if len(present) == self.variant_count:
            if self.variant_count == 1:
                self._add_third(present[0])
            self._complete.add(present)
            if self._until_decided:
                self._values.append(present)

    def _add_third(self, value: float) -> None:
        """The third central sum of a single variant, before its other moments take the value.

        Terriberry's update, as given by Pébay, Sandia report SAND2008-6212, section 2.2.
        """
        before, count = self._complete, self._complete.count + 1
        difference = value - before.means[0]
        cube = difference**3 * (count - 1) * (count - 2) / count**2
        self._third += cube - 3.0 * difference * before.products[0][0] / count

    def look(self) -> Look:
        """The intervals now, and whether they are narrow enough."""
        count = self._complete.count
        if count < 2:
            return self._blind_look()
        if self._until_decided:
            return self._deciding_look()
        sequence = self._spending.sequence
        widening = 1.0 if sequence else widening_after(count, self.spec, self.variant_count - 1)
        intervals = self._intervals(self._quick_quantile() * widening)
        widths = tuple(map(self._half_width_ratio, intervals))
        if self.variant_count > 2 and not sequence and self._within(widths, slack=1.1):
            intervals = self._intervals(self._exact_quantile() * widening)
            widths = tuple(map(self._half_width_ratio, intervals))
        if self.spec.runs is not None:
            return Look(
                self.block_count,
                intervals,
                widths,
                self.block_count >= self.spec.runs,
                self.spec.runs,
            )
        done = count >= first_look(self.spec) and self._within(widths)
        needed = self.block_count if done else self._blocks_needed(widths)
        return Look(self.block_count, intervals, widths, done, needed)

    @property
    def _until_decided(self) -> bool:
        return self.spec.rule == "decided" and self.variant_count > 1

    def _deciding_look(self) -> Look:
        """The intervals of the sequence, and whether each of them decides its verdict."""
        count = self._complete.count
        intervals = self._intervals(self._sequence_quantile(count))
        widths = tuple(map(self._half_width_ratio, intervals))
        done = count >= first_look(self.spec) and all(map(self._decides, intervals))
        if done and count < self._next_confirmation:
            done = False
        if done and not all(map(self._decides, self._confirming_intervals())):
            self._next_confirmation = next_confirmation(count)
            done = False
        needed = self.block_count if done else self._blocks_to_decide(intervals)
        return Look(self.block_count, intervals, widths, done, needed)

    def _decides(self, ratio: Interval) -> bool:
        return decide(ratio, self.margin_ratio, "lower") != "undecided"

    @property
    def _each_confidence(self) -> float:
        """What each ratio needs for all to hold together, whatever their correlation."""
        return self._spent_confidence ** (1.0 / max(1, self._comparison_count))

    def _sequence_quantile(self, count: int) -> float:
        return sequence_quantile(self._each_confidence, count)

    def _confirming_intervals(self) -> Iterator[Interval]:
        """Of each ratio whose blocks depend on each other, or are too few to show it."""
        from steelyard.analysis.intervals.paired_ratio import confirming_interval

        baseline, *candidates = zip(*self._values, strict=True)
        each = self._each_confidence
        widening = sequence_widening(each, len(baseline))
        for candidate in candidates:
            found = confirming_interval(baseline, candidate, each, widening)
            if found is not None:
                yield found

    def _blocks_to_decide(self, intervals: Sequence[Interval]) -> int | None:
        count = self._complete.count
        quantiles = Quantiles(self._sequence_quantile(count), self._sequence_quantile)
        open_ones = [ratio for ratio in intervals if not self._decides(ratio)]
        further = [further_blocks(r, count, self.margin_ratio, quantiles) for r in open_ones]
        known = [blocks for blocks in further if blocks is not None]
        if len(known) < len(further):
            return None
        needed = self.block_count + max(known, default=1)
        return max(first_look(self.spec), needed)

    def _blind_look(self) -> Look:
        runs = self.spec.runs
        method = MEAN_METHOD if self.variant_count == 1 else RATIO_METHOD
        comparisons = max(1, self.variant_count - 1)
        found = tuple(one_value(value, self.confidence, method) for value in self._first_values())
        done = runs is not None and self.block_count >= runs
        return Look(self.block_count, found, (None,) * comparisons, done, runs)

    def _first_values(self) -> list[float | None]:
        """The mean or each ratio of the only block with all values; None before there is one."""
        baseline, *candidates = self._complete.means
        if not self._complete.count:
            return [None] * max(1, len(candidates))
        if not candidates:
            return [baseline]
        return [value / baseline if baseline else None for value in candidates]

    def _quick_quantile(self) -> float:
        degrees = self._complete.count - 1
        if self._spending.sequence:
            return self._sequence_quantile(degrees + 1)
        if self.variant_count > 2:
            return sidak_quantile(self._spent_confidence, degrees, self.variant_count - 1)
        return student_quantile(two_sided(self._each_confidence), degrees)

    def _exact_quantile(self) -> float:
        contrasts = contrast_correlations(self._complete, self.variant_count)
        loadings = one_factor(contrasts) if contrasts else (0.0,) * (self.variant_count - 1)
        return simultaneous_quantile(self._spent_confidence, self._complete.count - 1, loadings)

    def _intervals(self, quantile: float) -> tuple[Interval, ...]:
        moments = self._complete
        if self.variant_count == 1:
            means = moments.mean_pair(0, 0)
            if quantile == inf:
                return (one_value(means.baseline, self.confidence, MEAN_METHOD),)
            half_width = quantile * sqrt(means.baseline_variance)
            low, high = means.baseline - half_width, means.baseline + half_width
            plain = Estimate(means.baseline, low, high, self.confidence, MEAN_METHOD)
            if self.spec.rule != "precision":
                return (plain,)
            return (stretched(plain, self.skewness(), quantile, moments.count),)
        found = (
            fieller_interval(
                moments.mean_pair(0, candidate), quantile, self.confidence, RATIO_METHOD
            )
            for candidate in range(1, self.variant_count)
        )
        return tuple(with_sign(ratio, moments.means[0]) for ratio in found)

    def skewness(self) -> float:
        """Of the values of a single variant; 0 where they are alike."""
        second, count = self._complete.products[0][0], self._complete.count
        rounding = count * (1e-15 * self._complete.means[0]) ** 2
        return self._third / count / (second / count) ** 1.5 if second > rounding else 0.0

    def _half_width_ratio(self, interval: Interval) -> float | None:
        if not isinstance(interval, Estimate):
            return None
        if self.variant_count > 1:
            return interval.half_width
        return interval.half_width / abs(interval.estimate) if interval.estimate else None

    def _within(self, widths: tuple[float | None, ...], slack: float = 1.0) -> bool:
        limit = self.spec.precision_ratio * slack
        return all(width is not None and width <= limit for width in widths)

    def _blocks_needed(self, widths: tuple[float | None, ...]) -> int | None:
        known = [width for width in widths if width is not None]
        if len(known) < len(widths):
            return None
        count = self._complete.count
        needed = blocks_for(max(known), count, self.spec.precision_ratio, self.confidence)
        if needed is None:
            return None
        lost = self.block_count / count
        return max(first_look(self.spec), self.block_count + 1, ceil(needed * lost))


def _spending(spec: StoppingSpec, comparison_count: int) -> Spending:
    """What the looks of a running experiment spend; a mean has no verdict to be wrong about."""
    if not comparison_count:
        return ONE_LOOK
    return spending_of(spec, spec.rule)


def side_means(values: Mapping[int, float | None], sides: Sequence[Side]) -> list[float | None]:
    """The mean of each side in one block; None where one of its variants gave no value."""
    found: list[float | None] = []
    for side in sides:
        present = [value for index in side if (value := values[index]) is not None]
        found.append(fsum(present) / len(present) if len(present) == len(side) else None)
    return found


def blocks_for(half_width: float, count: int, wanted: float, confidence: float) -> int | None:
    """Blocks at which a half-width that is `half_width` at `count` blocks becomes `wanted`.

    It shrinks with the square root of the blocks and with Student's quantile. None beyond
    ten million.
    """
    if not wanted > 0 or half_width / wanted > sqrt(_MOST_BLOCKS):
        return None
    p = two_sided(confidence)
    now = student_quantile(p, count - 1)
    needed = float(count)
    # The quantile depends on the answer: from below and from above it settles in a few steps.
    for _ in range(8):
        then = student_quantile(p, max(1.0, round(needed) - 1.0))
        needed = max(2.0, count * (half_width / wanted * then / now) ** 2)
    return ceil(needed) if needed <= _MOST_BLOCKS else None
