"""The intervals of one experiment: which method, and which quantile its design calls for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from steelyard.analysis.comparison.comparison_results import Independence
from steelyard.analysis.comparison.metric_summary import skewness_of
from steelyard.analysis.comparison.ratio_verdict import Quantiles
from steelyard.analysis.comparison.stopping import widening_after
from steelyard.analysis.comparison.unit_values import TopLevel, common_units
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals import cosine_series
from steelyard.analysis.intervals.error_spending import (
    sequence_quantile,
    sequence_widening,
    spending_of,
)
from steelyard.analysis.intervals.fieller import (
    RATIO_METHOD,
    paired_fieller,
    unpaired_fieller,
    unpaired_means,
    welch_degrees,
    with_sign,
)
from steelyard.analysis.intervals.johnson import stretched
from steelyard.analysis.intervals.mean import (
    MEAN_METHOD,
    covariance_of,
    mean_interval,
    mean_of,
    one_value,
    two_sided,
    variance_of,
)
from steelyard.analysis.intervals.paired_ratio import (
    DEPENDENCE_LEVEL,
    contrasts_of,
    dependent_ratio,
)
from steelyard.analysis.intervals.simultaneous import (
    confidence_of_each,
    contrast_loadings,
    group_confidence,
)
from steelyard.analysis.tests.independence import FEWEST_VALUES, independence
from steelyard.core.estimate import Interval, Unbounded
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.stopping_spec import PastLook, StoppingSpec


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval, and what was seen of the contrasts it was made from.

    Parameters
    ----------
    interval : Interval
    block_count : int
        Blocks that both variants have.
    contrasts : sequence of float
        ``y - r x`` of each block; empty without blocks in common.
    independence : Independence or None
        Of the contrasts.
    dependent : bool
        Whether the interval allows for dependence.
    quantile : float
        How many standard errors of independent blocks the interval reaches, about.
    """

    interval: Interval
    block_count: int
    contrasts: Sequence[float]
    independence: Independence | None
    dependent: bool
    quantile: float = 1.0


def block_correlation(own: TopLevel, others: Sequence[TopLevel]) -> float | None:
    """How a variant moves from block to block with the mean of the other variants.

    Returns
    -------
    float or None
        The correlation, where it is above 0 at 1 % (Student's test of a correlation); None
        otherwise, and for fewer than 8 blocks. Above 0, the machine changes between blocks,
        which values of one variant alone show later or never.
    """
    columns = common_units((own, *others))
    count = len(columns[0])
    if count < FEWEST_VALUES or not others:
        return None
    rest = columns[1] if len(columns) == 2 else [sum(row) for row in zip(*columns[1:], strict=True)]
    variances = variance_of(columns[0]) * variance_of(rest)
    if variances <= 0.0:
        return None
    correlation = min(covariance_of(columns[0], rest) / variances**0.5, 1.0)
    limit = student_quantile(1.0 - DEPENDENCE_LEVEL, count - 2)
    beyond = correlation > limit / (count - 2 + limit * limit) ** 0.5
    return correlation if beyond else None


class Inference:
    """Makes the intervals of one experiment.

    Parameters
    ----------
    experiment : Experiment
        Its specification gives method, order, confidence and rule of stopping.

    Notes
    -----
    `method` ``"fieller"``: Student's and Fieller's intervals; ``"bootstrap"``: the
    hierarchical bootstrap. Dependent sequences get intervals that allow for that in both.
    Ratios spend what `error_spending` says; a mean has no verdict to be wrong about.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.spec: ExperimentSpec = experiment.spec
        self._by_precision = experiment.stopped == "precision"
        self._spending = spending_of(self.spec.stopping, experiment.stopped)
        groups = [group for group in self.spec.groups() if len(group) > 1]
        confidence = group_confidence(self.spec.confidence, len(groups))
        self._group_confidence = self._spending.confidence(confidence)
        self._simultaneous = sum(len(group) - 1 for group in groups) > 1

    def widening(self, count: int, comparison_count: int = 1) -> float:
        """What quantiles are multiplied by: 1, or more after stopping by precision."""
        if not self._by_precision:
            return 1.0
        return widening_after(count, self.spec.stopping, comparison_count)

    def mean(self, values: Sequence[float], dependent: bool) -> Interval:
        """The interval of a variant's mean; dependent values get one by cosine series."""
        # A comparison stops by its ratio, which hardly selects among means.
        if self.spec.kind != "measurement":
            return self._mean(values, self.spec.confidence, 1.0, dependent)
        found = self._mean(values, self.spec.confidence, self.widening(len(values)), dependent)
        if not self._by_precision or found.method != MEAN_METHOD:
            return found
        return stretched(found, skewness_of(values), self._mean_quantile(values), len(values))

    def _mean_quantile(self, values: Sequence[float]) -> float:
        plain = student_quantile(two_sided(self.spec.confidence), max(1, len(values) - 1))
        return plain * self.widening(len(values))

    def _mean(
        self, values: Sequence[float], confidence: float, widening: float, dependent: bool
    ) -> Interval:
        count = len(values)
        if dependent and count >= FEWEST_VALUES:
            return cosine_series.long_run_mean_interval(values, confidence, widening)
        if self.spec.method == "bootstrap" and count > 1:
            from steelyard.analysis.intervals.bootstrap import bootstrap_mean

            return bootstrap_mean(values, confidence, self.spec.seed, widening)
        if count < 2 or widening == 1.0:
            return mean_interval(values, confidence)
        return mean_interval(
            values, confidence, widening * student_quantile(two_sided(confidence), count - 1)
        )

    def geometric_mean(self, logarithms: Sequence[float], dependent: bool) -> Interval:
        """The mean of a value a block whose verdict spends as a ratio's does."""
        confidence, count = self.spec.confidence, len(logarithms)
        spent = self._spending.confidence(confidence)
        widening = self.widening(count)
        if self._spending.sequence:
            widening = sequence_widening(spent, count)
        if widening == inf:
            return one_value(mean_of(logarithms), confidence, MEAN_METHOD)
        found = self._mean(logarithms, spent, widening, dependent)
        return replace(found, confidence=confidence)

    def apart_quantile(self, degrees: float, fewest: int) -> float:
        """Of a mean over variants that were run apart, the fewest values of one being `fewest`,
        whose verdict spends as a ratio's does."""
        spent = self._spending.confidence(self.spec.confidence)
        sequence = self._spending.sequence
        widening = sequence_widening(spent, fewest) if sequence else self.widening(fewest)
        return widening * student_quantile(two_sided(spent), degrees)

    def ratio_quantiles(self, ratio: Ratio, comparison_count: int) -> Quantiles:
        """Of a ratio's interval, and of the one after going on from it."""
        looks = (PastLook(ratio.block_count, self.spec.stopping.rule),)
        onward = self.spec.stopping
        if not onward.looks and not self._spending.sequence:
            onward = replace(onward, looks=looks)
        each = self._onward_confidence(onward, comparison_count)
        return Quantiles(ratio.quantile, lambda count: sequence_quantile(each, count))

    def _onward_confidence(self, onward: StoppingSpec, comparison_count: int) -> float:
        share = spending_of(onward, "decided").share
        groups = max(1, sum(len(group) > 1 for group in self.spec.groups()))
        return 1.0 - share * (1.0 - self.spec.confidence) / groups / max(1, comparison_count)

    def ratios(self, levels: Sequence[TopLevel]) -> list[Ratio]:
        """The ratio of each candidate to the first of `levels`, those of one group of variants;
        every one has values."""
        if self.spec.order == "sequential":
            return self._unpaired_ratios(levels)
        loadings = self._loadings(levels)
        ratios: list[Ratio] = []
        for level in levels[1:]:
            baseline, candidate = common_units((levels[0], level))
            ratios.append(self._paired_ratio(baseline, candidate, loadings))
        return ratios

    def _loadings(self, levels: Sequence[TopLevel]) -> tuple[float, ...] | None:
        """Loadings of the contrasts where several comparisons must hold together."""
        if len(levels) <= 2:
            return None
        columns = common_units(levels)
        return contrast_loadings(columns[0], columns[1:])

    def _each_confidence(self, loadings: tuple[float, ...] | None) -> float:
        """The confidence that each comparison needs."""
        if loadings is None:
            return self._group_confidence
        return confidence_of_each(self._group_confidence, loadings)

    def _widening(self, each: float, count: int, comparison_count: int) -> float:
        """What Student's quantiles are multiplied by: for a sequence, or a chosen end."""
        if self._spending.sequence:
            return sequence_widening(each, count)
        return self.widening(count, comparison_count)

    def _paired_ratio(
        self,
        baseline: Sequence[float],
        candidate: Sequence[float],
        loadings: tuple[float, ...] | None,
    ) -> Ratio:
        confidence, count = self.spec.confidence, len(baseline)
        if count == 0:
            return Ratio(_nothing_in_common(confidence), 0, (), None, False)
        contrasts = contrasts_of(baseline, candidate)
        found = independence(contrasts)
        if count < 2:
            return Ratio(
                paired_fieller(baseline, candidate, confidence), count, contrasts, found, False
            )
        each = self._each_confidence(loadings)
        widening = self._widening(each, count, len(loadings or (1.0,)))

        def quantile(degrees: float) -> float:
            return widening * student_quantile(two_sided(each), degrees)

        interval = dependent_ratio(baseline, candidate, confidence, quantile)
        dependent = interval is not None
        if interval is None and self.spec.method == "bootstrap":
            from steelyard.analysis.intervals.bootstrap import bootstrap_ratio

            # Of the quantile, the part beyond that of one comparison.
            beyond = quantile(count - 1) / student_quantile(two_sided(confidence), count - 1)
            interval = bootstrap_ratio(baseline, candidate, confidence, self.spec.seed, beyond)
        elif interval is None:
            interval = paired_fieller(baseline, candidate, confidence, quantile(count - 1))
        interval = _named(with_sign(interval, mean_of(baseline)), self._simultaneous)
        return Ratio(interval, count, contrasts, found, dependent, quantile(count - 1))

    def _unpaired_ratios(self, levels: Sequence[TopLevel]) -> list[Ratio]:
        baseline = levels[0].values
        loadings = _unpaired_loadings(levels) if len(levels) > 2 else None
        found: list[Ratio] = []
        for candidate in levels[1:]:
            quantile = None
            fewest = min(len(baseline), len(candidate.values))
            if fewest > 1:
                means = unpaired_means(baseline, candidate.values)
                degrees = welch_degrees(means, len(baseline), len(candidate.values))
                each = self._each_confidence(loadings)
                widening = self._widening(each, fewest, len(levels) - 1)
                quantile = widening * student_quantile(two_sided(each), degrees)
            interval = unpaired_fieller(baseline, candidate.values, self.spec.confidence, quantile)
            interval = _named(with_sign(interval, mean_of(baseline)), self._simultaneous)
            found.append(Ratio(interval, fewest, (), None, False, quantile or 1.0))
        return found


def _unpaired_loadings(levels: Sequence[TopLevel]) -> tuple[float, ...]:
    """Contrasts of variants that were run apart share only the baseline's mean."""
    loadings: list[float] = []
    for candidate in levels[1:]:
        if min(len(levels[0].values), len(candidate.values)) < 2:
            loadings.append(0.0)
            continue
        means = unpaired_means(levels[0].values, candidate.values)
        shared = (means.ratio or 0.0) ** 2 * means.baseline_variance
        total = shared + means.candidate_variance
        loadings.append((shared / total) ** 0.5 if total > 0 else 0.0)
    return tuple(loadings)


def _named(interval: Interval, simultaneous: bool) -> Interval:
    if not simultaneous:
        return interval
    return replace(interval, method=f"{interval.method}-simultaneous")


def _nothing_in_common(confidence: float) -> Interval:
    return Unbounded(
        None,
        confidence,
        RATIO_METHOD,
        "no-common-blocks",
        "No block has a value of both variants, so that nothing can be compared.",
    )
