"""What an analysis of a measurement or a comparison gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution, StopReason
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.gate_spec import GateSpec
from steelyard.core.stopping_spec import PastLook

Verdict = Literal["faster", "slower", "equivalent", "undecided"]
Sign = Literal["faster", "slower", "unclear"]


@dataclass(frozen=True)
class NormalityTest:
    """Shapiro and Wilk's W and its p value."""

    statistic: float
    p: float


@dataclass(frozen=True)
class Summary:
    """What is said of one metric of one variant, over the values of the top repetition level.

    `variation` is the coefficient of variation, `max_difference` the largest minus the smallest
    value and `max_difference_ratio` the same relative to the mean. Everything else is in the
    unit of the metric. `normality` is None where the test has no answer (fewer than 3 values,
    or all alike).
    """

    count: int
    mean: Interval
    median: float
    lower_quartile: float
    upper_quartile: float
    minimum: float
    maximum: float
    standard_deviation: float
    variation: float
    max_difference: float
    max_difference_ratio: float
    normality: NormalityTest | None


@dataclass(frozen=True)
class Independence:
    """Whether a sequence of values, in the order of their making, looks independent.

    `autocorrelation[k - 1]` is that of lag k; values beyond +-`bound` are unlikely (95 %) in an
    independent sequence. `dependence_p` is a portmanteau test's, `trend_p` that of a test
    against a monotonic trend; None where there are too few values.
    """

    autocorrelation: tuple[float, ...]
    bound: float
    dependence_p: float | None
    trend_p: float | None


@dataclass(frozen=True)
class MetricResult:
    """One metric of one variant. `summary` is None where the machine or program gave no value.

    `values` are those of the top repetition level, in the order of their making, `blocks` the
    block of each: tuples, or arrays of many.
    """

    metric: MetricSpec
    values: Sequence[float]
    blocks: Sequence[int]
    summary: Summary | None
    independence: Independence | None

    @property
    def available(self) -> bool:
        """Whether there is any value."""
        return self.summary is not None


class MetricResults(Mapping[str, MetricResult]):
    """The metrics of a variant by name, each analysed when it is first looked at.

    A short answer shows few of them, and the analysis of a thousand short trials takes as long
    as a good part of the trials.
    """

    def __init__(self, makers: Mapping[str, Callable[[], MetricResult]]) -> None:
        self._makers = makers
        self._made: dict[str, MetricResult] = {}

    def __getitem__(self, name: str) -> MetricResult:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True)
class VariantResult:
    """One variant: its metrics by name, what was repeated, what failed, what it cost, and the
    values of its parameters."""

    name: str
    metrics: Mapping[str, MetricResult]
    repetitions: Mapping[str, int]
    failed: int
    spent_s: float
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A candidate against the baseline, on one metric.

    `ratio` is candidate / baseline of the mean; `sign` says which is better by however little,
    `verdict` which is better by more than the margin. `simultaneous` says that its confidence holds
    for all comparisons of this answer together. `further_blocks` and `further_s` are what would
    decide an undecided verdict, None where that cannot be told. `benchmark` is what both ran, where
    there are several, and `sides` what baseline and candidate are called beside it.
    """

    baseline: str
    candidate: str
    metric: MetricSpec
    ratio: Interval
    verdict: Verdict
    sign: Sign
    margin_ratio: float
    simultaneous: bool
    further_blocks: int | None
    further_s: float | None
    benchmark: str = ""
    sides: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class GateCheck:
    """How one comparison stands to one gate.

    `ratio` is that of the statistic which the gate is about, `limit_ratio` the change that it
    allows.
    """

    gate: GateSpec
    comparison: Comparison
    ratio: Interval
    limit_ratio: float
    passed: bool


@dataclass(frozen=True)
class GeometricMean:
    """The geometric mean of one candidate's ratios over all groups, on one metric.

    Parameters
    ----------
    baseline, candidate : str
        What the variants are called in every group: the words that their names share.
    group_count : int
        Programs, or combinations of parameters, that it is taken over.
    of_benchmarks : bool
        Whether the groups are benchmarks.
    """

    baseline: str
    candidate: str
    metric: MetricSpec
    group_count: int
    ratio: Interval
    verdict: Verdict
    margin_ratio: float
    of_benchmarks: bool = False


@dataclass(frozen=True)
class FurtherPrecision:
    """What is left to a precision that was not reached, from the variance so far.

    Parameters
    ----------
    precision_ratio : float
        The half-width that was to be reached.
    blocks : int
        Further blocks.
    time_s : float
        What they cost, in seconds.
    """

    precision_ratio: float
    blocks: int
    time_s: float


@dataclass(frozen=True)
class Answer:
    """The whole answer of `measure` or `compare`.

    `comparisons` holds those on the primary metric first, then those on the other metrics.
    `geometric_means`, on the primary metric, has one for each candidate where there are several
    groups. `gates` has a check for each comparison that a gate is about. `resumable` says
    whether its commands are known, `looks` which answers came before, `further` what is left to the
    precision at which it was to stop, None where nothing is.
    """

    kind: Literal["measurement", "comparison"]
    experiment: str
    metric: MetricSpec
    variants: tuple[VariantResult, ...]
    comparisons: tuple[Comparison, ...]
    cautions: tuple[Caution, ...]
    stopped: StopReason | None
    geometric_means: tuple[GeometricMean, ...] = ()
    resumable: bool = True
    gates: tuple[GateCheck, ...] = ()
    looks: tuple[PastLook, ...] = ()
    further: FurtherPrecision | None = None

    @property
    def block_count(self) -> int:
        """Repetitions of the highest level that gave a value, of the variant with the most."""
        counts = [len(variant.metrics[self.metric.name].values) for variant in self.variants]
        return max(counts, default=0)

    @property
    def levelled(self) -> bool:
        """Whether builds or levels of the user's own were repeated."""
        usual = 3  # build, execution, iteration
        return any(
            len(variant.repetitions) > usual or variant.repetitions.get("build", 0) > 1
            for variant in self.variants
        )
