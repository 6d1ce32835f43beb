"""The answer of a stored experiment, about the metric that was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.analysis.comparison.comparison_results import Answer
    from steelyard.core.experiment_results import Experiment
    from steelyard.core.gate_spec import GateSpec


def answered(
    experiment: Experiment, metric: str | None, gates: tuple[GateSpec, ...] = ()
) -> Answer:
    """What an experiment says, with `metric` in the first place; its own first one unless named.

    `gates`, where there are any, take the place of its own.

    Raises
    ------
    UsageError
        The experiment has no such metric.
    """
    from steelyard.analysis.comparison.experiment_answer import answer

    if gates:
        from steelyard.analysis.comparison.gate_check import check_gates

        experiment = replace(experiment, spec=replace(experiment.spec, gates=gates))
        check_gates(experiment.spec)
    found = answer(experiment)
    if metric is None:
        return found
    metrics = {n: r.metric for v in found.variants for n, r in v.metrics.items()}
    if metric not in metrics:
        raise UsageError(
            f"The experiment has no metric {metric!r}. It has: {', '.join(metrics)}.",
            field="--metric",
        )
    return replace(found, metric=metrics[metric])
