"""Go's benchmark format: read by its adapter, and written for benchstat and what else reads it.

One line an execution, with the mean of its iterations: benchstat takes lines for independent
samples, which iterations of one execution are not. As in golang.org/design/14313-benchmark-format;
a name may have keys (``/variant=old``), and ends in the number of processors. benchstat compares
with the value of a key that comes first, so that the lines are in the order of the variants.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import fsum

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import MetricSpec
from steelyard.harness.adapters.benchfmt import OWN_EXPERIMENT, OWN_METRIC
from steelyard.store.exported_trials import cautions_of, level_cautions, ran_well
from steelyard.store.file_format import whole_file
from steelyard.store.harness_experiment import harness_format
from steelyard.store.imported_experiments import unique_names


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write all metrics of each execution.

    Raises
    ------
    DataError
        No trial succeeded.
    """
    spec = experiment.spec
    names = unique_names([_name(variant.name) for variant in spec.variants])
    lines = [
        f"BenchmarkSteelyard/variant={names[trial.variant].replace(' ', '_')}-1 1 {values}"
        for trial in sorted(experiment.trials, key=lambda trial: trial.variant)
        if ran_well(trial) and (values := _values(trial, spec.metrics))
    ]
    if not lines:
        raise DataError(
            f"The experiment {spec.identifier} has no successful trial, so Go's benchmark format "
            "has nothing to hold.",
            field="experiment",
        )
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write(f"{OWN_EXPERIMENT}: {spec.identifier}\n")
        file.write(f"{OWN_METRIC}: {_field(spec.primary_metric.name)}\n\n")
        file.writelines(f"{line}\n" for line in lines)
    what = "Go's benchmark format"
    held = {metric.name for metric in spec.metrics}
    return [*cautions_of(experiment, what, held), *level_cautions(experiment, what)]


def _name(name: str) -> str:
    """Without what separates fields and keys in the format."""
    return _field(name).replace("/", "_")


def _field(text: str) -> str:
    """`text` that is one field, in letters that can be written."""
    plain = text.encode("utf-8", "replace").decode()
    return "".join("_" if letter.isspace() else letter for letter in plain)


def _values(trial: Trial, metrics: Sequence[MetricSpec]) -> str:
    parts: list[str] = []
    for number, metric in enumerate(metrics):
        values = trial.measurements.get(metric.name, ())
        if len(values):
            mean = Decimal(repr(fsum(values) / len(values)))
            parts.append(f"{mean:f} {_unit(metric, is_primary=number == 0)}")
    return " ".join(parts)


def _unit(metric: MetricSpec, is_primary: bool) -> str:
    """The unit that stands for a metric. Seconds, into which benchstat itself turns nanoseconds:
    but not those of 0, which would make a second unit of the metric."""
    name = _field(metric.name)
    if metric.unit == "s":
        return "sec/op" if is_primary else f"{name}-sec/op"
    return f"{name}-B" if metric.unit == "bytes" else name


EXTENSION = harness_format(
    "benchfmt",
    suffixes=(".benchfmt",),
    description="Go's benchmark text: a variant a benchmark; written a line an execution.",
    write=write,
)
