"""The trials of a variant as values at repetition levels, and what each level cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL

if TYPE_CHECKING:
    from steelyard.analysis.variance.nested_values import NestedValues

ITERATION_LEVEL = "iteration"


def level_values(spec: ExperimentSpec, trials: Sequence[Trial], metric: str) -> NestedValues:
    """The values of `metric` of the trials of one variant, all of which have some.

    Levels of the user's are there as they were named; builds and iterations where there are
    several, or where builds were to be repeated.
    """
    import numpy as np

    from steelyard.analysis.comparison.unit_values import iteration_values
    from steelyard.analysis.variance.nested_values import nested_values

    kept = sorted(trials, key=lambda trial: (*trial.levels, trial.build, trial.position))
    counts = np.array([len(trial.measurements[metric]) for trial in kept])
    names = [level.name for level in spec.user_levels if all(trial.levels for trial in kept)]
    labels = {
        name: np.repeat([trial.levels[depth] for trial in kept], counts)
        for depth, name in enumerate(names)
    }
    if spec.repeats_builds or len({trial.build for trial in kept}) > 1:
        labels[BUILD_LEVEL] = np.repeat([trial.build for trial in kept], counts)
    labels[EXECUTION_LEVEL] = np.repeat(np.arange(len(kept)), counts)
    if counts.max() > 1:
        labels[ITERATION_LEVEL] = np.arange(counts.sum())
    values = np.concatenate([iteration_values(trial.measurements[metric]) for trial in kept])
    return nested_values(
        list(labels), [label.astype(np.int64) for label in labels.values()], values
    )


def level_costs_s(
    spec: ExperimentSpec, trials: Sequence[Trial], metric: MetricSpec, levels: Sequence[str]
) -> dict[str, float]:
    """What one more repetition of each level adds by itself, as the trials had it.

    Of an iteration its time; of an execution all but its iterations, where there are several; of
    a build and of the command of a level the time that it took. A level without command costs
    nothing by itself. Unknown ones are left out.
    """
    costs_s = _trial_costs_s(trials, metric, ITERATION_LEVEL in levels)
    for depth, level in enumerate(spec.user_levels):
        units = {trial.levels[: depth + 1]: trial for trial in trials if trial.levels}
        if level.command is None:
            costs_s[level.name] = 0.0
        else:
            _add_mean(costs_s, level.name, list(units.values()))
    _add_mean(costs_s, BUILD_LEVEL, list({trial.build: trial for trial in trials}.values()))
    return {level: cost_s for level, cost_s in costs_s.items() if level in levels}


def _add_mean(costs_s: dict[str, float], level: str, trials: Sequence[Trial]) -> None:
    found = [trial.details.get("costs_s", {}).get(level) for trial in trials]
    known = [cost_s for cost_s in found if cost_s is not None]
    if known:
        costs_s[level] = fsum(known) / len(known)


def _trial_costs_s(
    trials: Sequence[Trial], metric: MetricSpec, iterations: bool
) -> dict[str, float]:
    spent_s = [trial.spent_s for trial in trials]
    if not iterations:
        return {EXECUTION_LEVEL: fsum(spent_s) / len(spent_s)} if all(spent_s) else {}
    if metric.unit != "s":
        return {}
    inside_s = [fsum(trial.measurements[metric.name]) for trial in trials]
    count = sum(len(trial.measurements[metric.name]) for trial in trials)
    costs_s = {ITERATION_LEVEL: fsum(inside_s) / count} if any(inside_s) else {}
    rest_s = fsum(spent_s) - fsum(inside_s)
    if all(spent_s) and rest_s > 0:
        costs_s[EXECUTION_LEVEL] = rest_s / len(trials)
    return costs_s
