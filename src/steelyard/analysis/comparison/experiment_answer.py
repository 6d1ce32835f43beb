"""The answer of an experiment: every estimate, verdict and caution from its trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from steelyard.analysis.comparison.comparison_cautions import (
    block_drift_cautions,
    few_blocks_caution,
    level_cautions,
    metric_cautions,
    ratio_cautions,
    trial_cautions,
)
from steelyard.analysis.comparison.comparison_results import (
    Answer,
    Comparison,
    FurtherPrecision,
    GeometricMean,
    MetricResult,
    MetricResults,
    VariantResult,
)
from steelyard.analysis.comparison.experiment_intervals import Inference, Ratio, block_correlation
from steelyard.analysis.comparison.further_precision import further_precision
from steelyard.analysis.comparison.gate_check import with_gates
from steelyard.analysis.comparison.import_cautions import import_cautions
from steelyard.analysis.comparison.metric_summary import summarise
from steelyard.analysis.comparison.ratio_verdict import decide, further_blocks, sign
from steelyard.analysis.comparison.unit_values import (
    TopLevel,
    analysed_trials,
    repetitions,
    spent_s,
    top_levels,
    with_values,
)
from steelyard.analysis.intervals.paired_ratio import is_dependent
from steelyard.analysis.tests.independence import independence
from steelyard.core.ending import describe_failure
from steelyard.core.estimate import Interval, Unbounded
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec, Variant
from steelyard.core.trial_table import TrialTable


def answer(experiment: Experiment) -> Answer:
    """Everything that an experiment says.

    Parameters
    ----------
    experiment : Experiment
        As far as it has come; failed trials and incomplete blocks are allowed.

    Returns
    -------
    Answer
        With a typed `Unbounded` wherever the data give no bounds; this function does not
        raise for want of data.

    Notes
    -----
    Values are reduced to the top repetition level first (`levels.top_level`). Ratios use the
    blocks in which both variants have a value. With three or more variants the confidence
    of the comparisons on one metric holds for all of them together.
    """
    trials = TrialTable.of(experiment.trials).in_order()
    experiment = replace(experiment, trials=trials)
    variant_count = len(experiment.spec.variants)
    analysed = [analysed_trials(trials, index) for index in range(variant_count)]
    inference = Inference(experiment)
    levels = [
        top_levels(own, [metric.name for metric in experiment.spec.metrics]) for own in analysed
    ]
    variants = tuple(
        _variant_result(experiment, inference, index, analysed[index], levels)
        for index in range(variant_count)
    )
    ratios = [
        (metric, pair, ratio)
        for metric in experiment.spec.metrics
        for group in experiment.spec.groups()
        for pair, ratio in _ratios(inference, group, [levels[i][metric.name] for i in group])
    ]
    found = Answer(
        kind=experiment.spec.kind,
        experiment=experiment.spec.identifier,
        metric=experiment.spec.primary_metric,
        variants=variants,
        comparisons=tuple(
            _comparison(inference, experiment, metric, pair, ratio)
            for metric, pair, ratio in ratios
        ),
        cautions=tuple(_cautions(experiment, variants, levels, ratios)),
        stopped=experiment.stopped,
        geometric_means=tuple(_geometric_means(experiment, inference, levels)),
        resumable=experiment.spec.has_commands,
        looks=experiment.spec.stopping.looks,
        further=_further(experiment, variants, ratios),
    )
    return with_gates(found, experiment.spec.gates)


def _further(
    experiment: Experiment,
    variants: Sequence[VariantResult],
    ratios: Sequence[tuple[MetricSpec, tuple[int, int], Ratio | None]],
) -> FurtherPrecision | None:
    """What is left to the precision of an experiment that ended before it was reached."""
    spec = experiment.spec
    cut_short = experiment.stopped in ("budget", "interrupted")
    if not cut_short or spec.stopping.rule != "precision" or spec.varied:
        return None
    primary = spec.primary_metric
    compared = [ratio for metric, _, ratio in ratios if metric == primary]
    if spec.kind == "comparison":
        intervals = [(r.interval, r.block_count) for r in compared if r is not None]
        if len(intervals) < len(compared):
            return None
    else:
        summaries = [variant.metrics[primary.name].summary for variant in variants]
        intervals = [(s.mean, s.count) for s in summaries if s is not None]
    cost_s = _block_cost_s(experiment) if intervals else 0.0
    relative = spec.kind != "comparison"
    return further_precision(intervals, spec.stopping, cost_s, relative=relative)


def _geometric_means(
    experiment: Experiment, inference: Inference, levels: Sequence[Mapping[str, TopLevel]]
) -> Iterable[GeometricMean]:
    """One for each candidate, where every one of several groups has it."""
    spec, metric = experiment.spec, experiment.spec.primary_metric
    groups = spec.groups()
    if len(groups) < 2 or len({len(group) for group in groups}) > 1:
        return
    from steelyard.analysis.intervals.geometric_mean_interval import geometric_mean

    for place in range(1, len(groups[0])):
        pairs = [
            (levels[group[0]][metric.name], levels[group[place]][metric.name]) for group in groups
        ]
        ratio = geometric_mean(pairs, inference)
        yield GeometricMean(
            baseline=_common_name([spec.variants[group[0]] for group in groups]) or "baseline",
            candidate=_common_name([spec.variants[group[place]] for group in groups])
            or "candidate",
            metric=metric,
            group_count=len(groups),
            ratio=ratio,
            verdict=decide(ratio, spec.margin_ratio, metric.direction),
            margin_ratio=spec.margin_ratio,
            of_benchmarks=all(variant.benchmark for variant in spec.variants),
        )


def _common_name(variants: Sequence[Variant]) -> str:
    """What the variants of several groups are called alike: beside their benchmarks, or the words
    that all names share."""
    sides = {variant.side for variant in variants}
    if len(sides) == 1:
        return sides.pop()
    others = [set(variant.name.split()) for variant in variants[1:]]
    words = variants[0].name.split()
    return " ".join(word for word in words if all(word in other for other in others))


def _variant_result(
    experiment: Experiment,
    inference: Inference,
    index: int,
    analysed: TrialTable,
    levels: Sequence[dict[str, TopLevel]],
) -> VariantResult:
    spec = experiment.spec
    own = TrialTable.of(experiment.trials).only(index)
    levels_named = [level.name for level in spec.user_levels]
    return VariantResult(
        name=spec.variants[index].name,
        metrics=MetricResults(
            {
                metric.name: partial(
                    _metric_result,
                    inference,
                    metric,
                    levels[index][metric.name],
                    _others(spec, levels, index, metric),
                )
                for metric in spec.metrics
            }
        ),
        repetitions=repetitions(analysed, spec.primary_metric.name, levels_named),
        failed=len(own.only(warmup=False, failed=True)),
        spent_s=spent_s(own, levels_named),
        parameters=spec.variants[index].parameters,
    )


def _others(
    spec: ExperimentSpec,
    levels: Sequence[dict[str, TopLevel]],
    index: int,
    metric: MetricSpec,
) -> list[TopLevel]:
    """The other variants that ran in the same blocks."""
    if spec.order == "sequential":
        return []
    others = [table[metric.name] for i, table in enumerate(levels) if i != index]
    return [level for level in others if level.values]


def _metric_result(
    inference: Inference, metric: MetricSpec, level: TopLevel, others: Sequence[TopLevel]
) -> MetricResult:
    values = level.values
    if not values:
        return MetricResult(metric, (), (), None, None)
    found = independence(values)
    dependent = is_dependent(found) or block_correlation(level, others) is not None
    summary = summarise(values, inference.mean(values, dependent))
    return MetricResult(metric, values, level.units, summary, found)


def _ratios(
    inference: Inference, group: Sequence[int], levels: Sequence[TopLevel]
) -> list[tuple[tuple[int, int], Ratio | None]]:
    """The ratio of each pair of baseline and candidate; None where either has no value."""
    pairs = [(group[0], candidate) for candidate in group[1:]]
    if not pairs or not levels[0].values:
        return [(pair, None) for pair in pairs]
    present = [i for i, level in enumerate(levels) if level.values]
    found = dict(zip(present[1:], inference.ratios([levels[i] for i in present]), strict=True))
    return [(pair, found.get(place)) for place, pair in enumerate(pairs, start=1)]


def _comparison(
    inference: Inference,
    experiment: Experiment,
    metric: MetricSpec,
    pair: tuple[int, int],
    ratio: Ratio | None,
) -> Comparison:
    spec = experiment.spec
    interval = ratio.interval if ratio else _no_values(experiment, pair)
    verdict = decide(interval, spec.margin_ratio, metric.direction)
    blocks = None
    if verdict == "undecided" and ratio is not None:
        quantiles = inference.ratio_quantiles(ratio, len(spec.variants) - len(spec.groups()))
        blocks = further_blocks(interval, ratio.block_count, spec.margin_ratio, quantiles)
    return Comparison(
        baseline=spec.variants[pair[0]].name,
        candidate=spec.variants[pair[1]].name,
        metric=metric,
        ratio=interval,
        verdict=verdict,
        sign=sign(interval, metric.direction),
        margin_ratio=spec.margin_ratio,
        simultaneous=len(spec.variants) - len(spec.groups()) > 1,
        further_blocks=blocks,
        further_s=None if blocks is None else blocks * _block_cost_s(experiment) or None,
        benchmark=spec.variants[pair[1]].benchmark,
        sides=(spec.variants[pair[0]].side, spec.variants[pair[1]].side),
    )


def _block_cost_s(experiment: Experiment) -> float:
    """The mean cost of a block so far, with all that is done around its trials."""
    spec = experiment.spec
    run = TrialTable.of(experiment.trials).only(warmup=False)
    names = [level.name for level in spec.user_levels]
    owns = [run.only(index) for index in range(len(spec.variants))]
    per_trial_s = sum(spent_s(own, names) for own in owns) / len(run)
    return per_trial_s * len(spec.variants) * spec.trials_of_variant


def _no_values(experiment: Experiment, pair: tuple[int, int]) -> Interval:
    """That there is no ratio, and why: trials that all failed, or a metric that nobody gave."""
    failures = [_only_failures(experiment, index) for index in pair]
    return Unbounded(
        None,
        experiment.spec.confidence,
        "fieller-blocks",
        "no-values",
        " ".join(filter(None, failures)) or "One of the two variants has no value of this metric.",
    )


def _only_failures(experiment: Experiment, index: int) -> str:
    """That all trials of a variant failed, and why the first did; empty where one did not."""
    own = TrialTable.of(experiment.trials).only(index, warmup=False)
    failed = own.only(failed=True)
    if not len(own) or len(failed) < len(own):
        return ""
    name, why = experiment.spec.variants[index].name, describe_failure(next(iter(failed)))
    count = "The only trial" if len(own) == 1 else f"All {len(own)} trials"
    return f"{count} of {name} failed. First failure: {why.rstrip('.')}."


def _dimensioning_cautions(experiment: Experiment) -> Iterable[Caution]:
    """Where variation is not as it was when counts were chosen."""
    if not experiment.spec.dimensioned:
        return
    from steelyard.analysis.comparison.trial_levels import level_values
    from steelyard.analysis.dimensioning.dimensioning_agreement import agreement, agreement_cautions

    metric = experiment.spec.primary_metric.name
    names = [variant.name for variant in experiment.spec.variants]
    for by in experiment.spec.dimensioned:
        own = analysed_trials(experiment.trials, names.index(by.variant))
        kept = with_values(own, metric)
        if len(set(kept.block)) > 1:
            found = agreement(by.squares, level_values(experiment.spec, kept, metric))
            yield from agreement_cautions(by, found, f"{metric} of {by.variant}")


def _cautions(
    experiment: Experiment,
    variants: Sequence[VariantResult],
    levels: Sequence[Mapping[str, TopLevel]],
    ratios: Sequence[tuple[MetricSpec, tuple[int, int], Ratio | None]],
) -> Iterable[Caution]:
    """Cautions about trials and the primary metric; of other metrics, that they lack values."""
    yield from trial_cautions(experiment)
    yield from import_cautions(experiment)
    yield from level_cautions(experiment)
    yield from _dimensioning_cautions(experiment)
    primary = experiment.spec.primary_metric
    counts = [len(variant.metrics[primary.name].values) for variant in variants]
    yield from few_blocks_caution(min(counts, default=0))
    compared = [(pair, ratio) for metric, pair, ratio in ratios if metric == primary and ratio]
    among = max(1, sum(count > 0 for count in counts) + len(compared))
    is_measured = any(level.values for table in levels for level in table.values())
    for variant, table in zip(variants, levels, strict=True):
        for name in variant.metrics if is_measured else ():
            if name == primary.name or not table[name].values:
                yield from metric_cautions(variant, variant.metrics[name], among)
    if experiment.spec.order != "sequential":
        yield from block_drift_cautions([variant.metrics[primary.name] for variant in variants])
    for (baseline, candidate), ratio in compared:
        names = (variants[baseline].name, variants[candidate].name)
        yield from ratio_cautions(names, primary.name, ratio, among)
