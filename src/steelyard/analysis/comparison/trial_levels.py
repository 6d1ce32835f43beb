"""The trials of a variant as values at repetition levels, and what each level cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL
from steelyard.core.trial_table import TrialTable

if TYPE_CHECKING:
    from steelyard.analysis.variance.nested_values import NestedValues

ITERATION_LEVEL = "iteration"


def level_values(spec: ExperimentSpec, trials: Sequence[Trial], metric: str) -> NestedValues:
    """The values of `metric` of the trials of one variant, all of which have some.

    Levels of the user's are there as they were named; builds and iterations where there are
    several, or where builds were to be repeated.
    """
    import numpy as np

    from steelyard.analysis.variance.nested_values import nested_values

    kept = _by_unit(TrialTable.of(trials))
    column = kept.measurements[metric]
    counts = np.ones(len(kept), np.int64) if column.counts is None else np.asarray(column.counts)
    names = [level.name for level in spec.user_levels if all(kept.levels)]
    labels = {
        name: np.repeat([levels[depth] for levels in kept.levels], counts)
        for depth, name in enumerate(names)
    }
    if spec.repeats_builds or len(set(kept.build)) > 1:
        labels[BUILD_LEVEL] = np.repeat(np.asarray(kept.build), counts)
    labels[EXECUTION_LEVEL] = np.repeat(np.arange(len(kept)), counts)
    if counts.max() > 1:
        labels[ITERATION_LEVEL] = np.arange(counts.sum())
    return nested_values(
        list(labels),
        [label.astype(np.int64) for label in labels.values()],
        np.asarray(column.values),
    )


def _by_unit(trials: TrialTable) -> TrialTable:
    """In the order of the levels, builds and positions."""
    keys = list(zip(trials.levels, trials.build, trials.position, strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return trials if order == list(range(len(keys))) else trials.picked(order)


def level_costs_s(
    spec: ExperimentSpec, trials: Sequence[Trial], metric: MetricSpec, levels: Sequence[str]
) -> dict[str, float]:
    """What one more repetition of each level adds by itself, as the trials had it.

    Of an iteration its time; of an execution all but its iterations, where there are several; of
    a build and of the command of a level the time that it took. A level without command costs
    nothing by itself. Unknown ones are left out.
    """
    table = TrialTable.of(trials)
    costs_s = _trial_costs_s(table, metric, ITERATION_LEVEL in levels)
    for depth, level in enumerate(spec.user_levels):
        if level.command is None:
            costs_s[level.name] = 0.0
        else:
            units = zip((own[: depth + 1] for own in table.levels), table.details, strict=True)
            _add_mean(costs_s, level.name, {unit: told for unit, told in units if unit})
    _add_mean(costs_s, BUILD_LEVEL, dict(zip(table.build, table.details, strict=True)))
    return {level: cost_s for level, cost_s in costs_s.items() if level in levels}


def _add_mean(costs_s: dict[str, float], level: str, details: Mapping[Any, Any]) -> None:
    """The mean of what the units of a level cost, by the details of the last trial of each."""
    found = [told.get("costs_s", {}).get(level) for told in details.values()]
    known = [cost_s for cost_s in found if cost_s is not None]
    if known:
        costs_s[level] = fsum(known) / len(known)


def _trial_costs_s(trials: TrialTable, metric: MetricSpec, iterations: bool) -> dict[str, float]:
    spent_s = trials.spent_s
    if not iterations:
        return {EXECUTION_LEVEL: fsum(spent_s) / len(spent_s)} if all(spent_s) else {}
    if metric.unit != "s":
        return {}
    values = trials.measurements[metric.name].values
    costs_s = {ITERATION_LEVEL: fsum(values) / len(values)} if any(values) else {}
    rest_s = fsum(spent_s) - fsum(values)
    if all(spent_s) and rest_s > 0:
        costs_s[EXECUTION_LEVEL] = rest_s / len(trials)
    return costs_s
