"""What a reader must know beside the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steelyard.analysis.comparison.comparison_results import (
    Independence,
    MetricResult,
    VariantResult,
)
from steelyard.analysis.comparison.experiment_intervals import Ratio, block_correlation
from steelyard.analysis.comparison.import_cautions import is_matched
from steelyard.analysis.comparison.metric_summary import skewness_of
from steelyard.analysis.comparison.mode_cautions import mode_cautions
from steelyard.analysis.comparison.unit_values import TopLevel, iteration_counts
from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.intervals.autoregression import FEWEST_BLOCKS, suspected
from steelyard.analysis.intervals.paired_ratio import DEPENDENCE_LEVEL
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk
from steelyard.core.ending import describe_failure, ending_words
from steelyard.core.estimate import Unbounded
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.trial_table import TrialTable

# Below it the shape of a distribution cannot be judged from the data at all.
FEW_BLOCKS = 20
# W. G. Cochran, Sampling Techniques (3rd ed. 1977), section 2.15: a 95 % interval of a mean
# errs in no more than 6 % when n > 25 times the squared skewness.
_COCHRAN = 25.0
_NORMALITY_LEVEL = 0.01
# Two-sided: of 20 normal values one sample in twelve breaks Cochran's rule by chance.
_SKEWNESS_LEVEL = 0.01
_WANTED = {
    "precision": "the wanted precision was reached",
    "decided": "every verdict was decided",
    "runs": "all its runs were done",
}
# From here the mean of any but wildly skewed values is normal enough: Cochran's rule remains.
_NORMALITY_MATTERS_BELOW = 100
_WITHOUT_FAILED = (
    " They are not in the estimates; if slow runs fail more often than fast ones, the estimates "
    "are too low."
)


def trial_cautions(experiment: Experiment) -> Iterable[Caution]:
    """Failed trials, a last block that was cut short, and an early end."""
    variants = experiment.spec.variants
    yield from _nothing_measured(experiment)
    for index, variant in enumerate(variants):
        own = TrialTable.of(experiment.trials).only(index, warmup=False)
        failed = [ending_words(trial) for trial in own.only(failed=True)]
        if failed:
            reasons = ", ".join(f"{failed.count(r)} x {r}" for r in sorted(set(failed)))
            yield Caution(
                "failed-trials",
                f"{len(failed)} of {len(own)} trials of {variant.name} failed ({reasons})."
                f"{_WITHOUT_FAILED if len(failed) < len(own) else ''}",
            )
    yield from _untold_layouts(experiment)
    if experiment.spec.order != "sequential" and (len(variants) > 1 or experiment.spec.levels):
        yield from _interrupted_block(experiment)
    if experiment.stopped in ("budget", "interrupted", "failures"):
        cause = {
            "budget": "the budget was used up",
            "interrupted": "it was interrupted",
            "failures": "too many trials failed",
        }[experiment.stopped]
        rule = experiment.spec.stopping.rule
        yield Caution(
            "stopped-early",
            f"The experiment ended because {cause}, not because {_WANTED[rule]}. "
            "`steelyard resume` continues it.",
        )
    compared = experiment.spec.kind == "comparison"
    if experiment.spec.order == "sequential" and compared and not is_matched(experiment):
        yield Caution(
            "sequential-order",
            "The variants were run one after the other, so that a drift of the machine "
            "cannot be told from a difference between them. Blocks can.",
        )


def _nothing_measured(experiment: Experiment) -> Iterable[Caution]:
    """That there is no answer, where every trial failed."""
    run = TrialTable.of(experiment.trials).only(warmup=False)
    failed = run.only(failed=True)
    if len(run) and len(failed) == len(run):
        count = "the only trial" if len(run) == 1 else f"all {len(run)} trials"
        why = describe_failure(next(iter(failed))).rstrip(".")
        yield Caution(
            "nothing-measured", f"Nothing was measured: {count} failed. First failure: {why}."
        )


def _untold_layouts(experiment: Experiment) -> Iterable[Caution]:
    """Variants whose layout was asked for, but of which some trials do not say what was done."""
    trials = TrialTable.of(experiment.trials)
    if not any("layout" in details for details in trials.details.known):
        return
    for index, variant in enumerate(experiment.spec.variants):
        told = [
            "problem" not in details["layout"]
            for details in trials.only(index, failed=False).details
            if "layout" in details
        ]
        if not all(told):
            yield Caution(
                "layout-not-told",
                f"{told.count(False)} of {len(told)} trials of {variant.name} left no report of "
                "their layout, so that nothing shows that it was randomised as asked. A program "
                "that ends by _exit or a signal writes none, nor does one that `steelyard cc` did "
                "not build.",
            )


def _interrupted_block(experiment: Experiment) -> Iterable[Caution]:
    run = TrialTable.of(experiment.trials).only(warmup=False)
    if not len(run):
        return
    last = max(run.block)
    own = run.picked([place for place, block in enumerate(run.block) if block == last])
    variants = len(experiment.spec.variants)
    missing = variants - len(set(own.variant))
    if missing:
        yield Caution(
            "interrupted-block",
            f"Block {last + 1} lacks {missing} of {variants} variants. "
            "Ratios use complete blocks only.",
        )
        return
    whole = variants * experiment.spec.trials_of_variant
    lacking = whole - len(own)
    if lacking:
        yield Caution(
            "interrupted-block",
            f"Block {last + 1} lacks {lacking} of its {whole} trials; it counts by those that it "
            "has.",
        )


def level_cautions(experiment: Experiment) -> Iterable[Caution]:
    """Builds that were not repeated, and programs that made another number of iterations."""
    spec = experiment.spec
    built = [variant.name for variant in spec.variants if variant.build is not None]
    if built and not spec.repeats_builds:
        yield Caution(
            "one-build",
            f"There is one build of {', '.join(built)}, so that the answer is about these "
            "binaries. Another build of the same source may be faster or slower; "
            "--repeat build=COUNT tells.",
        )
    wanted = None if spec.iterations is None else spec.iterations.count
    if wanted is None:
        return
    metric = spec.primary_metric.name
    for index, variant in enumerate(spec.variants):
        own = TrialTable.of(experiment.trials).only(index, failed=False)
        counts = iteration_counts(own, metric)
        if counts - {wanted}:
            told = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
            yield Caution(
                "other-iteration-count",
                f"{variant.name} was asked for {wanted} iterations and gave {told}. It is told by "
                "{iteration_count} in its command, or by STEELYARD_ITERATION_COUNT.",
            )


def metric_cautions(
    variant: VariantResult, result: MetricResult, among: int = 1
) -> Iterable[Caution]:
    """What the values of one metric of one variant call for.

    Levels of tests are shared `among` the sequences of values that an answer looks at, so that
    answers with many of them raise no more false alarms than those with one.
    """
    name = result.metric.name
    what = f"{name} of {variant.name}"
    summary = result.summary
    if summary is None:
        yield Caution("unavailable-metric", f"There is no value for {what}.")
        return
    if summary.count == 1:
        yield Caution(
            "one-value", f"There is one value for {what}; an interval needs at least two."
        )
        return
    if summary.standard_deviation == 0.0:
        yield Caution(
            "constant", f"All values of {what} are alike, so that its interval has no width."
        )
        return
    yield from shape_cautions(f"The mean {what}", result.values, among)
    yield from mode_cautions(what, result.values, result.metric.unit)
    yield from dependence_cautions(what, result.independence, summary.count, among)
    yield from suspicion_cautions(what, result.values, among)


def shape_cautions(what: str, values: Sequence[float], among: int = 1) -> Iterable[Caution]:
    """Whether an interval may lean on Student's t with so many values of such a shape.

    Cochran's rule, n > 25 G^2 with the sample skewness G, decides, where G is more than that of
    normal values may be at 1 %; below 100 values, whose
    sample skewness understates that of the population, Shapiro and Wilk's test too. Fewer
    than `FEW_BLOCKS` values show no shape: of these `few_blocks_caution` warns in any case.
    """
    count = len(values)
    if count < FEW_BLOCKS:
        return
    skewness = skewness_of(values)
    chance = normal_quantile(1.0 - _SKEWNESS_LEVEL / (2 * among)) * _skewness_deviation(count)
    beyond_chance = abs(skewness) > chance
    if beyond_chance and count < _COCHRAN * skewness * skewness:
        yield Caution(
            "skewed",
            f"{what}: {count} values with skewness {skewness:.1f} are too few for a sound "
            f"interval; {int(_COCHRAN * skewness * skewness) + 1} would do.",
        )
        return
    normality = shapiro_wilk(values) if count < _NORMALITY_MATTERS_BELOW else None
    if normality is not None and normality.p < _NORMALITY_LEVEL / among:
        yield Caution(
            "non-normal",
            f"{what}: the {count} values are not normal (p = {normality.p:.2g}), which the "
            f"interval leans on below {_NORMALITY_MATTERS_BELOW}.",
        )


def _skewness_deviation(count: int) -> float:
    """Of the sample skewness of normal values: Cramér, Mathematical Methods of Statistics (1946),
    section 29.3."""
    return (6.0 * count * (count - 1) / ((count - 2) * (count + 1) * (count + 3))) ** 0.5


def dependence_cautions(
    what: str, found: Independence | None, count: int, among: int = 1
) -> Iterable[Caution]:
    """Trend and autocorrelation, at 1 % shared among the sequences of the answer."""
    if found is None:
        return
    level = DEPENDENCE_LEVEL / among
    allowed = (
        "Its interval allows for dependence that fades within a small part of the sequence, "
        "and may still be too narrow."
    )
    if found.trend_p is not None and found.trend_p < level:
        yield Caution(
            "trend",
            f"The sequence of {what} has a trend (p = {found.trend_p:.2g}), so that the mean "
            f"depends on when and how long it was measured. {allowed}",
        )
    elif found.dependence_p is not None and found.dependence_p < level:
        yield Caution(
            "dependent-executions",
            f"The {count} values of {what} are not independent of each other "
            f"(p = {found.dependence_p:.2g}). {allowed}",
        )


def suspicion_cautions(what: str, values: Sequence[float], among: int = 1) -> Iterable[Caution]:
    """Of few values that look dependent, for which no interval can allow."""
    if suspected(values, among):
        yield Caution(
            "dependence-suspected",
            f"Each of {what} resembles the one before it, as far as {len(values)} values can show. "
            "If they depend on each other, the interval holds far less often than it says: in 5 to "
            f"8 of 10 cases. {FEWEST_BLOCKS} blocks or more let it allow for that.",
        )


def block_drift_cautions(results: Sequence[MetricResult]) -> Iterable[Caution]:
    """Variants that move together from block to block."""
    levels = [TopLevel(result.values, result.blocks) for result in results if result.values]
    if len(levels) < 2:
        return
    correlation = block_correlation(levels[0], levels[1:])
    if correlation is not None:
        yield Caution(
            "block-drift",
            f"The variants move together from block to block (correlation {correlation:.2f}): "
            "the machine changes during the experiment. The ratios do not suffer from it; the "
            "means are those of this session, and their intervals allow for slow changes.",
        )


def ratio_cautions(
    names: tuple[str, str], metric: str, ratio: Ratio, among: int = 1
) -> Iterable[Caution]:
    """What the ratio of two variants calls for; levels are shared `among` sequences."""
    baseline, candidate = names
    what = f"the ratio {candidate} / {baseline} of {metric}"
    if isinstance(ratio.interval, Unbounded):
        yield Caution(
            "unbounded-ratio",
            f"{what[0].upper()}{what[1:]} has no bounds, so that its verdict is undecided.",
        )
        return
    if ratio.interval.half_width == 0.0:
        return
    yield from shape_cautions(what[0].upper() + what[1:], ratio.contrasts, among)
    behind = f"the differences within blocks behind {what}"
    yield from dependence_cautions(behind, ratio.independence, ratio.block_count, among)
    yield from suspicion_cautions(behind, ratio.contrasts, among)


def _missing(count: int) -> str:
    """In how many percent of experiments a kind of run is not seen that comes 1 time in 20."""
    return f"{100 * 0.95**count:.0f}"


def few_blocks_caution(count: int) -> Iterable[Caution]:
    """Said whenever there are too few values of the top level to judge their shape."""
    if 1 < count < FEW_BLOCKS:
        yield Caution(
            "few-blocks",
            f"With {count} blocks the shape of the distribution cannot be checked. Intervals "
            "assume about normal values, and are about the kinds of run that were seen: those of "
            "ratios too, where one program alone has such a kind. A kind of run that comes 1 time "
            f"in 20 is missing from {_missing(count)} % of experiments of {count} blocks. "
            f"{FEW_BLOCKS} blocks or more are safer.",
        )
