"""What exports to other tools' formats have in common: which trials, which metric, what is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from steelyard.core.errors import DataError
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL

TIMES = ("iteration_time", "wall_time")


def ran_well(trial: Trial) -> bool:
    """Whether a trial counts: no warm-up, and not failed."""
    return trial.status == "ok" and not trial.warmup


def host_of(experiment: Experiment) -> Mapping[str, Any]:
    """What is known of the machine; nothing where another program wrote it otherwise."""
    host = experiment.provenance.get("host")
    return cast("Mapping[str, Any]", host) if isinstance(host, Mapping) else {}


def kept_trials(experiment: Experiment, variant: int, metric: str) -> list[Trial]:
    """The trials of a variant that count and have the metric."""
    return [
        trial
        for trial in experiment.trials
        if trial.variant == variant and ran_well(trial) and len(trial.measurements.get(metric, ()))
    ]


def time_metric(experiment: Experiment, what: str) -> MetricSpec:
    """The primary metric where it is a time, else that of an iteration or the wall time.

    Raises
    ------
    DataError
        No trial that counts has one of them.
    """
    metrics = experiment.spec.metrics
    named = [metric for name in TIMES for metric in metrics if metric.name == name]
    for metric in (metrics[0], *named):
        if metric.unit == "s" and any(
            ran_well(trial) and len(trial.measurements.get(metric.name, ()))
            for trial in experiment.trials
        ):
            return metric
    raise DataError(
        f"The experiment {experiment.spec.identifier} has no successful trial with a time, so "
        f"{what} has nothing to hold.",
        field="experiment",
    )


def mean_intervals(experiment: Experiment, what: str) -> Iterator[tuple[str, MetricSpec, Interval]]:
    """The mean of each metric of each variant that has it, with its interval.

    Raises
    ------
    DataError
        No trial counts.
    """
    from steelyard.analysis.comparison.experiment_answer import answer

    if not any(map(ran_well, experiment.trials)):
        raise DataError(
            f"The experiment {experiment.spec.identifier} has no successful trial, so {what} has "
            "nothing to hold.",
            field="experiment",
        )
    for variant in answer(experiment).variants:
        for result in variant.metrics.values():
            if result.summary is not None:
                yield variant.name, result.metric, result.summary.mean


def cautions_of(experiment: Experiment, what: str, held: set[str]) -> list[Caution]:
    """What is left out: failed trials, and the metrics that are not `held`."""
    cautions: list[Caution] = []
    failed = sum(t.status == "failed" and not t.warmup for t in experiment.trials)
    if failed:
        message = f"{failed} failed trials are left out: {what} has no place for them."
        cautions.append(Caution("failed-left-out", message))
    other = [metric.name for metric in experiment.spec.metrics if metric.name not in held]
    if other:
        message = f"{what} has no place for these metrics: {', '.join(other)}."
        cautions.append(Caution("metrics-left-out", message))
    return cautions


def level_cautions(experiment: Experiment, what: str) -> list[Caution]:
    """That executions lose what they share, where a format holds single executions."""
    names = [level.name for level in experiment.spec.levels if level.name != EXECUTION_LEVEL]
    if not names and len({trial.build for trial in experiment.trials}) > 1:
        names = [BUILD_LEVEL]
    if not names:
        return []
    message = (
        f"{what} has no place for the levels above executions ({', '.join(names)}): who reads it "
        "takes executions that share one of them for independent."
    )
    return [Caution("levels-left-out", message)]
