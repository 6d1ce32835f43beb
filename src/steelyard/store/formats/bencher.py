"""Bencher Metric Format, for ``bencher run --adapter json``.

As in its reference: benchmarks by name, their measures by slug, each with ``value`` and perhaps
``lower_value`` and ``upper_value``. The measures that every project has are ``latency`` in
nanoseconds and ``throughput`` in operations a second.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.experiment_spec import MetricSpec
from steelyard.store.exported_trials import cautions_of, mean_intervals
from steelyard.store.file_format import FileFormat, write_json_file

LATENCY = "latency"
THROUGHPUT = "throughput"
NANOSECONDS = 1e9


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the mean of each metric of each variant, with its interval where it has one."""
    measures = _measures(experiment)
    document: dict[str, dict[str, dict[str, float]]] = {}
    for name, metric, mean in mean_intervals(experiment, "Bencher's format"):
        slug, factor = measures[metric.name]
        if mean.estimate is None:
            continue
        value = {"value": mean.estimate * factor}
        if isinstance(mean, Estimate):
            value |= {"lower_value": mean.low * factor, "upper_value": mean.high * factor}
        document.setdefault(name, {})[slug] = value
    write_json_file(document, path, indent=2)
    return cautions_of(experiment, "Bencher's format", set(measures))


def _measures(experiment: Experiment) -> dict[str, tuple[str, float]]:
    """`_measure` of each metric by its name, with a number behind a slug that is taken."""
    found: dict[str, tuple[str, float]] = {}
    taken: dict[str, int] = {}
    for metric in experiment.spec.metrics:
        slug, factor = _measure(metric, experiment)
        taken[slug] = taken.get(slug, 0) + 1
        found[metric.name] = slug if taken[slug] == 1 else f"{slug}-{taken[slug]}", factor
    return found


def _measure(metric: MetricSpec, experiment: Experiment) -> tuple[str, float]:
    """The slug of the measure and what to multiply by; the primary time is the latency."""
    primary = experiment.spec.primary_metric
    if metric == primary and metric.unit == "s":
        return LATENCY, NANOSECONDS
    if metric == primary and metric.unit == "op/s":
        return THROUGHPUT, 1.0
    return metric.name.replace("_", "-"), 1.0


EXTENSION = FileFormat(
    name="bencher",
    suffixes=(".bmf.json",),
    description="Bencher Metric Format: the mean of each metric with its interval.",
    sniff=lambda _head: False,
    write=write,
)
