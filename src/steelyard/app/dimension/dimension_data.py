"""Dimension what was measured: a table of measurements, or an experiment of the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.trial_levels import level_costs_s, level_values
from steelyard.core.errors import DataError, TrialsFailedError, UsageError
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import MetricSpec

if TYPE_CHECKING:
    from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning
    from steelyard.analysis.variance.nested_values import NestedValues
    from steelyard.analysis.variance.variance_components import Method
    from steelyard.app.request.request import Request
    from steelyard.run.run_experiment import Place
    from steelyard.run.trial_session import Watcher


@dataclass(frozen=True)
class Question:
    """What is asked of measurements.

    Parameters
    ----------
    costs_s : mapping of level to float
        Costs that the user gave; they go before what the data say.
    budget_s : float or None
    confidence : float
    method : str
        Of the variance components: ``"anova"`` or ``"reml"``.
    """

    costs_s: Mapping[str, float]
    budget_s: float | None = None
    confidence: float = 0.95
    method: Method = "anova"


@dataclass(frozen=True)
class Dimensioned:
    """An answer with what it is about: a file, or a metric of a variant of an experiment.

    `kept` says that later experiments of the same benchmark can take its counts.
    """

    answer: Dimensioning
    metric: MetricSpec
    file: str | None = None
    experiment: str | None = None
    variant: str | None = None
    kept: bool = False


def dimension_table(path: str, unit: str, question: Question) -> Dimensioned:
    """Dimension the measurements of a CSV file, whose values are in `unit`.

    Raises
    ------
    DataError
        The file is not a table of measurements; the message names line and column.
    UsageError
        The question names a level that the table has not.
    """
    from steelyard.analysis.comparison.mode_cautions import level_mode_cautions
    from steelyard.store.level_table import VALUE, read_level_table

    table = read_level_table(path, times=unit == "s")
    lowest = table.data.levels[-1]
    costs_s = {**_lowest_cost(lowest, table.data, unit), **table.costs_s}
    cautions: list[Caution] = []
    if table.missing_count:
        cautions.append(
            Caution(
                "missing-values",
                f"{_rows(table.missing_count)} of {path} without a value left out.",
            )
        )
    metric = MetricSpec(VALUE, unit)
    cautions += _iteration_cautions(table.series, metric, bool(table.series))
    cautions += level_mode_cautions(table.data, metric.name, metric.unit)
    answer = _answer(table.data, costs_s, question, cautions)
    return Dimensioned(answer, metric, file=path)


def dimension_experiment(
    experiment: Experiment, variant: str | None, metric: str | None, question: Question
) -> Dimensioned:
    """Dimension one metric of one variant of an experiment.

    Parameters
    ----------
    variant : str, optional
        May be left out where there is one.
    metric : str, optional
        The primary one unless named.

    Raises
    ------
    UsageError
        A name is none of the experiment's.
    TrialsFailedError
        No trial gave a value.
    """
    from steelyard.analysis.comparison.mode_cautions import level_mode_cautions
    from steelyard.analysis.comparison.unit_values import analysed_trials, iteration_values
    from steelyard.core.ending import describe_failure

    index = chosen_variant(experiment, variant)
    spec = chosen_metric(experiment, metric)
    name = experiment.spec.variants[index].name
    analysed = analysed_trials(experiment.trials, index)
    kept = [trial for trial in analysed if len(trial.measurements.get(spec.name, ()))]
    failures = [t for t in experiment.trials if t.variant == index and t.status == "failed"]
    failed = len(failures)
    identifier = experiment.spec.identifier
    if not (kept or failures) and experiment.stopped == "interrupted":
        raise TrialsFailedError(
            f"The experiment {identifier} was interrupted before {name} gave a value. `steelyard "
            f"resume {identifier}` goes on with it, `steelyard dimension {identifier}` reads it.",
            field="experiment",
        )
    if not kept:
        told = f" The last one: {describe_failure(failures[-1])}." if failures else ""
        raise TrialsFailedError(
            f"The experiment {identifier} has no value of {spec.name} of {name}; {failed} trials "
            f"failed.{told} `steelyard show {identifier}` lists them.",
            field="experiment",
        )
    data = level_values(experiment.spec, kept, spec.name)
    costs_s = level_costs_s(experiment.spec, kept, spec, data.levels)
    cautions = [Caution("failed-trials", f"{failed} failed trials left out.")] if failed else []
    cautions += _iteration_cautions(
        [iteration_values(trial.measurements[spec.name]) for trial in kept],
        spec,
        "iteration" in data.levels,
        _dropped_count(kept, spec.name),
        experiment.spec.seed,
    )
    cautions += level_mode_cautions(data, spec.name, spec.unit)
    answer = _answer(data, costs_s, question, cautions)
    identifier = experiment.spec.identifier
    return Dimensioned(answer, spec, experiment=identifier, variant=name)


def _iteration_cautions(
    series: Sequence[Sequence[float]],
    metric: MetricSpec,
    states: bool,
    dropped_count: int = 0,
    seed: int = 0,
) -> Iterator[Caution]:
    """What to say of the iterations of each execution; with `states`, of their states too."""
    from steelyard.analysis.dimensioning.dependent_iterations import (
        dependence_cautions,
        dependent_executions,
    )
    from steelyard.analysis.dimensioning.iteration_states import state_cautions

    found = dependent_executions(series, seed)
    yield from dependence_cautions(found, f"iterations ({metric.name})")
    if states:
        yield from state_cautions(series, dropped_count, seed, metric.direction)


def _dropped_count(trials: Sequence[Trial], metric: str) -> int:
    """The most iterations that were dropped at the start of a trial."""
    dropped = (trial.details.get("warmup_iterations", {}).get(metric, ()) for trial in trials)
    return max(map(len, dropped), default=0)


def run_initial(request: Request, place: Place, watch: Watcher | None = None) -> Experiment:
    """Run the initial experiment of one program.

    Raises
    ------
    UsageError
        There are several variants.
    """
    from steelyard.app.request.experiment_request import build_experiment, suite_workshop
    from steelyard.run.run_experiment import run_experiment

    spec = build_experiment(request, suite_workshop(request, place.say))
    if len(spec.variants) > 1:
        raise UsageError(
            f"dimension takes one program, and here are {len(spec.variants)}: dimension each by "
            "itself.",
            field="command",
        )
    return run_experiment(replace(spec, note=spec.note or "initial experiment"), place, watch=watch)


def _rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}"


def _lowest_cost(level: str, data: NestedValues, unit: str) -> dict[str, float]:
    """A repetition of the lowest level takes its own value, where that is a time."""
    mean = float(data.values.mean())
    return {level: mean} if unit == "s" and mean > 0 else {}


def _answer(
    data: NestedValues,
    costs_s: Mapping[str, float],
    question: Question,
    cautions: Sequence[Caution],
) -> Dimensioning:
    from steelyard.analysis.dimensioning.suggested_repetitions import dimensioning
    from steelyard.analysis.variance.variance_components import variance_components

    for level in question.costs_s:
        if level not in data.levels:
            raise UsageError(
                f"--cost names the level {level!r}; the levels are {', '.join(data.levels)}.",
                field="--cost",
            )
    costs_s = {**costs_s, **question.costs_s}
    if costs_s.get(data.levels[-1]) == 0:
        raise DataError(
            f"The cost of {data.levels[-1]} is 0, so that any number of them would be free. Give "
            f"its time with --cost {data.levels[-1]}=TIME.",
            field=f"cost_{data.levels[-1]}_s",
        )
    components = variance_components(data, question.confidence, question.method)
    found = dimensioning(components, costs_s, question.budget_s)
    return replace(found, cautions=(*cautions, *found.cautions))


def chosen_variant(experiment: Experiment, name: str | None) -> int:
    """The index of the variant called `name`, which may be left out where there is one.

    Raises
    ------
    UsageError
        There is none of this name, or no name and several variants.
    """
    names = [variant.name for variant in experiment.spec.variants]
    if name is None and len(names) == 1:
        return 0
    if name in names:
        return names.index(name)
    found = "has several variants" if name is None else f"has no variant {name!r}"
    raise UsageError(
        f"The experiment {experiment.spec.identifier} {found}. Name one with --variant: "
        f"{', '.join(map(repr, names))}.",
        field="--variant",
    )


def chosen_metric(experiment: Experiment, name: str | None) -> MetricSpec:
    """The metric called `name`, the primary one without a name.

    Raises
    ------
    UsageError
        The experiment has no metric of this name.
    """
    if name is None:
        return experiment.spec.primary_metric
    for metric in experiment.spec.metrics:
        if metric.name == name:
            return metric
    known = ", ".join(metric.name for metric in experiment.spec.metrics)
    raise UsageError(f"The experiment has no metric {name!r}. It has: {known}.", field="--metric")
