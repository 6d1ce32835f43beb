"""The intervals of one experiment: which method, and which quantile its design calls for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.analysis import cosine_series
from steelyard.analysis.fieller import (
    RATIO_METHOD,
    fieller_interval,
    paired_fieller,
    unpaired_fieller,
    unpaired_means,
    welch_degrees,
)
from steelyard.analysis.independence import FEWEST_VALUES, independence
from steelyard.analysis.levels import TopLevel, common_units
from steelyard.analysis.mean import (
    covariance_of,
    mean_interval,
    mean_of,
    two_sided,
    variance_of,
)
from steelyard.analysis.results import Independence
from steelyard.analysis.simultaneous import (
    contrast_loadings,
    group_confidence,
    simultaneous_quantile,
)
from steelyard.analysis.stopping import widening_after
from steelyard.analysis.student import student_quantile
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.model import Experiment, ExperimentSpec

# Below it a sequence is taken for dependent. Not 5 %: with two tests of each of three
# sequences, one in four answers about sound data would carry a false warning.
DEPENDENCE_LEVEL = 0.01


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval, and what was seen of the contrasts it was made from.

    Parameters
    ----------
    interval : Interval
    block_count : int
        Blocks that both variants have.
    contrasts : tuple of float
        ``y - r x`` of each block; empty without blocks in common.
    independence : Independence or None
        Of the contrasts.
    dependent : bool
        Whether the interval allows for dependence.
    """

    interval: Interval
    block_count: int
    contrasts: tuple[float, ...]
    independence: Independence | None
    dependent: bool


def is_dependent(found: Independence | None) -> bool:
    """Whether a portmanteau or a trend test speaks against independence, at 1 %."""
    if found is None or found.dependence_p is None or found.trend_p is None:
        return False
    return min(found.dependence_p, found.trend_p) < DEPENDENCE_LEVEL


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
    rest = [sum(row) for row in zip(*columns[1:], strict=True)]
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
    hierarchical bootstrap. Dependent sequences get intervals by cosine series in both.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.spec: ExperimentSpec = experiment.spec
        self._by_precision = experiment.stopped == "precision"
        groups = [group for group in self.spec.groups() if len(group) > 1]
        self._group_confidence = group_confidence(self.spec.confidence, len(groups))
        self._simultaneous = sum(len(group) - 1 for group in groups) > 1

    def widening(self, count: int, comparison_count: int = 1) -> float:
        """What quantiles are multiplied by: 1, or more after stopping by precision."""
        if not self._by_precision:
            return 1.0
        return widening_after(count, self.spec.stopping, comparison_count)

    def mean(self, values: Sequence[float], dependent: bool) -> Interval:
        """The interval of a variant's mean; dependent values get one by cosine series."""
        confidence, count = self.spec.confidence, len(values)
        # A comparison stops by its ratio, which hardly selects among means.
        widening = self.widening(count) if self.spec.kind == "measurement" else 1.0
        if dependent and count >= FEWEST_VALUES:
            return cosine_series.long_run_mean_interval(values, confidence, widening)
        if self.spec.method == "bootstrap" and count > 1:
            from steelyard.analysis.bootstrap import bootstrap_mean

            return bootstrap_mean(values, confidence, self.spec.seed, widening)
        if count < 2 or widening == 1.0:
            return mean_interval(values, confidence)
        return mean_interval(
            values, confidence, widening * student_quantile(two_sided(confidence), count - 1)
        )

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

    def _quantile(self, degrees: float, loadings: tuple[float, ...] | None) -> float:
        if loadings is None:
            return student_quantile(two_sided(self._group_confidence), degrees)
        return simultaneous_quantile(self._group_confidence, degrees, loadings)

    def _paired_ratio(
        self,
        baseline: Sequence[float],
        candidate: Sequence[float],
        loadings: tuple[float, ...] | None,
    ) -> Ratio:
        confidence, count = self.spec.confidence, len(baseline)
        if count == 0:
            return Ratio(_nothing_in_common(confidence), 0, (), None, False)
        contrasts = _contrasts(baseline, candidate)
        found = independence(contrasts)
        if count < 2:
            return Ratio(
                paired_fieller(baseline, candidate, confidence), count, contrasts, found, False
            )
        dependent = is_dependent(found)
        widening = self.widening(count, len(loadings or (1.0,)))
        if dependent:
            degrees = cosine_series.cosine_count(count)
            interval = fieller_interval(
                cosine_series.long_run_means(baseline, candidate),
                widening * self._quantile(degrees, loadings),
                confidence,
                cosine_series.RATIO_METHOD,
            )
        elif self.spec.method == "bootstrap":
            from steelyard.analysis.bootstrap import bootstrap_ratio

            # Of the simultaneous quantile, the part beyond that of one comparison.
            alone = student_quantile(two_sided(confidence), count - 1)
            widening *= self._quantile(count - 1, loadings) / alone
            interval = bootstrap_ratio(baseline, candidate, confidence, self.spec.seed, widening)
        else:
            quantile = widening * self._quantile(count - 1, loadings)
            interval = paired_fieller(baseline, candidate, confidence, quantile)
        interval = _named(_of_sign(interval, baseline), self._simultaneous)
        return Ratio(interval, count, contrasts, found, dependent)

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
                widening = self.widening(fewest, len(levels) - 1)
                quantile = widening * self._quantile(degrees, loadings)
            interval = unpaired_fieller(baseline, candidate.values, self.spec.confidence, quantile)
            interval = _named(_of_sign(interval, baseline), self._simultaneous)
            found.append(Ratio(interval, fewest, (), None, False))
        return found


def _contrasts(baseline: Sequence[float], candidate: Sequence[float]) -> tuple[float, ...]:
    below = mean_of(baseline)
    ratio = mean_of(candidate) / below if below else 0.0
    return tuple(y - ratio * x for x, y in zip(baseline, candidate, strict=True))


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


def _of_sign(interval: Interval, baseline: Sequence[float]) -> Interval:
    """The interval where the baseline is above 0: only then is a ratio below 1 one to less."""
    if not isinstance(interval, Estimate) or mean_of(baseline) > 0:
        return interval
    return Unbounded(
        interval.estimate,
        interval.confidence,
        interval.method,
        "baseline-negative",
        "The mean of the baseline is below 0, so that a ratio to it does not tell which is less.",
    )


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
