"""Answer a question by an analysis that was asked for by name, from a file or an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.unit_values import analysed_trials, iteration_values
from steelyard.app.dimension.dimension_data import chosen_metric, chosen_variant
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.core.trial_table import TrialTable
from steelyard.report.documents.rendering import Origin

if TYPE_CHECKING:
    from steelyard.analysis.tables.analysis_method import Method, Question, Result
    from steelyard.analysis.tables.data_columns import Column, Floats, Table


_NAMED_VARIANTS = 5


@dataclass(frozen=True)
class Analyzed:
    """A result with what it is about."""

    result: Result
    origin: Origin


def chosen_method(name: str, question: Question) -> Method:
    """The analysis called `name`.

    Raises
    ------
    UnknownNameError
        There is none; the message lists those that there are.
    UsageError
        The question lacks what it needs, or has an option that it does not know.
    """
    from steelyard.analysis.methods import ANALYSES

    method = ANALYSES.get(name)
    for need in method.needs:
        if not getattr(question, need):
            raise UsageError(f"--method {name} needs --{need}.", field=f"--{need}")
    for option in question.extra:
        if option not in method.options:
            known = ", ".join(sorted(method.options)) or "none"
            raise UsageError(
                f"--method {name} has no option {option!r}. It has: {known}.", field="--option"
            )
    return method


def analyze_file(path: str, method: Method, question: Question) -> Analyzed:
    """Analyse the table of a CSV file.

    Raises
    ------
    DataError, AnalysisError
        The file is no table, or not one that the method can take.
    """
    from steelyard.store.data_table import read_data_table

    result = method.analyze(read_data_table(path), question)
    name = "value" if method.reads == "levels" else question.response or ""
    return Analyzed(result, Origin(method.name, MetricSpec(name, question.unit), file=path))


def analyze_experiment(
    experiment: Experiment,
    names: tuple[str | None, str | None],
    method: Method,
    question: Question,
    *,
    iterations: bool = False,
) -> Analyzed:
    """Analyse a stored experiment.

    Parameters
    ----------
    names : pair of str or None
        For a method that reads levels, the variant, which may be left out where there is one,
        and the metric, the primary one unless named.
    iterations : bool
        For a method that reads trials, a row for each iteration of the response, with the column
        ``execution`` that says which belong together.

    Raises
    ------
    UsageError
        A name is none of the experiment's.
    TrialsFailedError
        No trial gave a value.
    """
    identifier = experiment.spec.identifier
    if method.reads == "trials":
        table = trial_table(experiment, question.response if iterations else None)
        metric = _response_metric(experiment, question.response)
        result = method.analyze(table, _about(question, metric))
        result = _with_failures(result, experiment, None)
        return Analyzed(result, Origin(method.name, metric, experiment=identifier))
    index = chosen_variant(experiment, names[0])
    metric = chosen_metric(experiment, names[1])
    table = _level_table(experiment, index, metric)
    result = method.analyze(table, _about(question, metric))
    result = _with_failures(result, experiment, index)
    variant = experiment.spec.variants[index].name
    return Analyzed(result, Origin(method.name, metric, experiment=identifier, variant=variant))


def _about(question: Question, metric: MetricSpec) -> Question:
    return replace(question, unit=metric.unit, direction=metric.direction)


def _with_failures(result: Any, experiment: Experiment, variant: int | None) -> Any:
    """The result with what is wrong with its trials: where they ran, and how many failed."""
    from steelyard.analysis.tables.unlike_rooms import unlike_rooms

    unlike = unlike_rooms(experiment.provenance)
    result = replace(result, cautions=(*unlike, *result.cautions)) if unlike else result
    failed = len(TrialTable.of(experiment.trials).only(variant, failed=True))
    if not failed:
        return result
    trials = "failed trial" if failed == 1 else "failed trials"
    text = f"{failed} {trials} left out."
    gone = _without_values(experiment) if variant is None else []
    if gone:
        named = ", ".join(gone[:_NAMED_VARIANTS]) + (" …" if len(gone) > _NAMED_VARIANTS else "")
        text += f" Nothing is left of {named}: the design lacks it."
    caution = Caution("failed-trials", text)
    return replace(result, cautions=(caution, *result.cautions))


def _without_values(experiment: Experiment) -> list[str]:
    """The variants of which every trial failed."""
    run = TrialTable.of(experiment.trials).only(warmup=False)
    tried, ended = set(run.variant), set(run.only(failed=False).variant)
    return [experiment.spec.variants[index].name for index in sorted(tried - ended)]


def _response_metric(experiment: Experiment, response: str | None) -> MetricSpec:
    metrics = {metric.name: metric for metric in experiment.spec.metrics}
    return metrics.get(response or "", MetricSpec(response or "", ""))


def trial_table(experiment: Experiment, response: str | None = None) -> Table:
    """A row a trial: where it was run, the parameters of its variant, the mean of each metric; or
    a row an iteration of `response`."""
    import numpy as np

    from steelyard.analysis.tables.data_columns import Table

    spec = experiment.spec
    trials = [t for v in range(len(spec.variants)) for t in analysed_trials(experiment.trials, v)]
    trials.sort(key=lambda trial: trial.position)
    _require(trials, experiment, "any metric")
    columns: dict[str, Column] = {
        "variant": tuple(spec.variants[trial.variant].name for trial in trials)
    }
    for name in ("build", "block", "position"):
        columns[name] = np.array([getattr(trial, name) for trial in trials], dtype=np.float64)
    parameters = [dict(spec.variants[trial.variant].parameters) for trial in trials]
    orders = _level_orders(spec)
    for name in orders:
        columns[name] = tuple(values.get(name, "") for values in parameters)
    placement = spec.placement
    if placement is not None:
        for name in placement.factors:
            columns[name] = tuple(placement.level(trial.block, name) for trial in trials)
    if spec.nuisance:
        from steelyard.factors.randomised_setups import drawn_setup

        setups = [drawn_setup(spec, trial.position, trial.block) for trial in trials]
        for factor in spec.nuisance:
            levels = tuple(setup[factor.name] for setup in setups)
            numeric = all(level.lstrip("-").isdigit() for level in levels)
            columns[factor.name] = np.array(levels, dtype=np.float64) if numeric else levels
    name = f"the experiment {spec.identifier}"
    if response is not None:
        return _iteration_table(name, trials, columns, response, orders)
    for metric in spec.metrics:
        columns[metric.name] = np.array([_mean(trial, metric.name) for trial in trials])
    return Table(name, columns, range(len(trials)), orders)


def _iteration_table(
    name: str,
    trials: Sequence[Trial],
    columns: dict[str, Column],
    response: str,
    orders: dict[str, tuple[str, ...]],
) -> Table:
    """What is known of each trial beside each of its iterations."""
    import numpy as np

    from steelyard.analysis.tables.data_columns import Table

    series = [list(iteration_values(trial.measurements.get(response, ()))) for trial in trials]
    counts = [len(values) for values in series]
    rows = np.repeat(np.arange(len(trials)), counts).tolist()
    made: dict[str, Column] = {}
    for column, values in columns.items():
        chosen = [values[row] for row in rows]
        made[column] = tuple(map(str, chosen)) if isinstance(values, tuple) else np.array(chosen)
    made["execution"] = made["position"]
    made["iteration"] = np.array([k for count in counts for k in range(count)], dtype=np.float64)
    made[response] = np.array([value for values in series for value in values], dtype=np.float64)
    return Table(name, made, range(len(rows)), orders)


def _level_orders(spec: ExperimentSpec) -> dict[str, tuple[str, ...]]:
    """The levels of what was varied: in the order of its file, else in that of its variants."""
    found = {name: dict.fromkeys(levels) for name, levels in spec.varied}
    for variant in spec.variants:
        for name, level in variant.parameters:
            found.setdefault(name, {})[level] = None
    return {name: tuple(levels) for name, levels in found.items()}


def _mean(trial: Trial, metric: str) -> float:
    values = trial.measurements.get(metric, ())
    return fsum(iteration_values(values)) / len(values) if len(values) else float("nan")


def _level_table(experiment: Experiment, variant: int, metric: MetricSpec) -> Table:
    """A row a measurement of one metric of one variant, with those that were dropped as warm-up:
    where it ends is what such methods tell."""
    import numpy as np

    from steelyard.analysis.tables.data_columns import Table

    analysed = analysed_trials(experiment.trials, variant)
    kept = [trial for trial in analysed if len(trial.measurements.get(metric.name, ()))]
    _require(kept, experiment, metric.name)
    series = [_all_iterations(trial, metric.name) for trial in kept]
    counts = [len(values) for values in series]
    columns: dict[str, Column] = {}
    if len({trial.build for trial in kept}) > 1:
        columns["build"] = np.repeat([float(trial.build) for trial in kept], counts)
    columns["execution"] = np.repeat([float(trial.position) for trial in kept], counts)
    columns["iteration"] = np.concatenate([np.arange(count, dtype=np.float64) for count in counts])
    columns["value"] = np.concatenate(series)
    return Table(f"the experiment {experiment.spec.identifier}", columns, range(sum(counts)))


def _all_iterations(trial: Trial, metric: str) -> Floats:
    import numpy as np

    dropped = trial.details.get("warmup_iterations", {}).get(metric, ())
    return np.array([*dropped, *iteration_values(trial.measurements[metric])], dtype=np.float64)


def _require(trials: Sequence[Trial], experiment: Experiment, what: str) -> None:
    if not trials:
        raise TrialsFailedError(
            f"The experiment {experiment.spec.identifier} has no value of {what}. "
            "`steelyard show` tells why.",
            field="experiment",
        )
