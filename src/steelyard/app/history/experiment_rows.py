"""Values along revisions from an experiment: each variant's mean with its interval and trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum

from steelyard.core.errors import DataError, UsageError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_host import host_name
from steelyard.core.experiment_results import Experiment
from steelyard.core.track_row import TrackRow

ALL_METRICS = "all"


def experiment_rows(experiment: Experiment, metrics: Sequence[str] = ()) -> list[TrackRow]:
    """A row for each variant and metric of an experiment.

    Parameters
    ----------
    experiment : Experiment
    metrics : sequence of str
        Their names; none takes the first metric of the experiment, `ALL_METRICS` every one.

    Raises
    ------
    UsageError
        It has no such metric.
    DataError
        No trial of it succeeded.
    """
    names = [metric.name for metric in experiment.spec.metrics]
    wanted = list(metrics) or names[:1]
    if wanted == [ALL_METRICS]:
        wanted = names
    for name in wanted:
        if name not in names:
            raise UsageError(
                f"The experiment {experiment.spec.identifier} has no metric {name!r}, but "
                f"{', '.join(names)}.",
                field="--metric",
            )
    rows = list(_rows(experiment, set(wanted)))
    if not rows:
        raise DataError(
            f"The experiment {experiment.spec.identifier} has no successful trial with "
            f"{' or '.join(wanted)}.",
            field="experiment",
        )
    return rows


def without_values(experiment: Experiment, rows: Sequence[TrackRow]) -> tuple[str, ...]:
    """A sentence for each variant of which no row is."""
    from steelyard.analysis.comparison.by_benchmark import by_benchmark

    named = {row.benchmark for row in rows}
    return tuple(
        f"{variant.name} has no value: none of its runs succeeded."
        for variant in by_benchmark(experiment).spec.variants
        if variant.name not in named
    )


def _rows(experiment: Experiment, wanted: set[str]) -> Iterator[TrackRow]:
    from steelyard.analysis.comparison.by_benchmark import by_benchmark
    from steelyard.analysis.comparison.experiment_answer import answer

    experiment = by_benchmark(experiment)
    kept = [t for t in experiment.trials if t.status == "ok" and not t.warmup]
    if not kept:
        return
    host = host_name(experiment) or None
    for index, variant in enumerate(answer(experiment).variants):
        for name, result in variant.metrics.items():
            summary = result.summary
            if name not in wanted or summary is None:
                continue
            mean, value = summary.mean, summary.mean.estimate
            if value is None:
                continue
            bounds = (mean.low, mean.high, mean.confidence) if isinstance(mean, Estimate) else None
            low, high, confidence = bounds or (None, None, None)
            means = [
                fsum(values) / len(values)
                for trial in kept
                if trial.variant == index and len(values := trial.measurements.get(name, ()))
            ]
            yield TrackRow(
                variant.name,
                name,
                result.metric.unit,
                value,
                result.metric.direction,
                low=low,
                high=high,
                confidence=confidence,
                observations=tuple(means),
                trial_count=len(means),
                measured_unix_s=experiment.created_unix_s,
                host=host,
            )
