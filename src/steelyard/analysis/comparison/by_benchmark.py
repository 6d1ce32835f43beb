"""Executions that ran several benchmarks, as executions of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from steelyard.analysis.comparison.import_cautions import LEFT_OUT
from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import Variant

# In the details of a trial: its iterations by benchmark and metric.
BENCHMARKS = "benchmarks"
# Of metrics that a harness gives.
SOURCE = "iterations"


def by_benchmark(experiment: Experiment) -> Experiment:
    """The experiment with a variant for each program and benchmark, where trials ran several.

    An execution that ran three benchmarks becomes one trial of each, in its block, with a third of
    its cost; a failed one failed in all of them. Others are returned as they are. Benchmarks that
    not every program has are left out, and a caution names them. Metrics of whole executions, such
    as their wall time, are of no benchmark and are left out too.

    Parameters
    ----------
    experiment : Experiment
        Whose trials have their iterations by benchmark in their details.

    Raises
    ------
    DataError
        The programs have no benchmark in common.
    """
    iterations, primary = experiment.spec.iterations, experiment.spec.primary_metric
    if iterations is None or iterations.benchmark is not None or primary.source != SOURCE:
        return experiment
    programs = experiment.spec.variants
    found = [_names(experiment, index) for index in range(len(programs))]
    known = dict.fromkeys(name for own in found for name in own)
    if len(known) < 2 or not all(found):  # a program without any has failed in all trials
        return experiment
    names = [name for name in found[0] if all(own.get(name) for own in found)]
    if not names:
        shown = "; ".join(
            f"{program.name} has {', '.join(own) or 'none'}"
            for program, own in zip(programs, found, strict=True)
        )
        raise DataError(f"The programs have no benchmark in common: {shown}.", field="--benchmark")
    variants = tuple(
        replace(program, name=f"{name} {program.name}", group=name, benchmark=name)
        for name in names
        for program in programs
    )
    trials = tuple(each for trial in experiment.trials for each in _trials(trial, names, programs))
    return replace(
        experiment,
        spec=replace(
            experiment.spec,
            variants=variants,
            metrics=tuple(m for m in experiment.spec.metrics if m.source == SOURCE),
        ),
        trials=trials,
        provenance={**experiment.provenance, LEFT_OUT: [n for n in known if n not in names]},
    )


def _names(experiment: Experiment, variant: int) -> dict[str, bool]:
    """The benchmarks of a program's executions, in their order, and whether one ran well."""
    found: dict[str, bool] = {}
    for trial in experiment.trials:
        if trial.variant == variant:
            for name, values in trial.details.get(BENCHMARKS, {}).items():
                found[name] = found.get(name, False) or bool(values)
    return found


def _trials(trial: Trial, names: Sequence[str], programs: Sequence[Variant]) -> Iterator[Trial]:
    """The trial as one of each benchmark."""
    own = trial.details.get(BENCHMARKS, {})
    details = {name: value for name, value in trial.details.items() if name != BENCHMARKS}
    for index, name in enumerate(names):
        place = replace(
            trial,
            position=trial.position * len(names) + index,
            variant=index * len(programs) + trial.variant,
            spent_s=trial.spent_s / len(names),
            details=details,
        )
        if trial.status == "ok" and not own.get(name):
            error = {**details, "error": f"The benchmark {name!r} did not run, or failed."}
            yield replace(place, status="failed", reason="metric", measurements={}, details=error)
        elif trial.status == "ok":
            values = {metric: tuple(found) for metric, found in own[name].items()}
            yield replace(place, measurements=values)
        else:
            yield place
