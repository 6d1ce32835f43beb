"""An experiment as the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.store.table_columns import COLUMNS

_LEFT_OUT = "A table holds measurements: commands, provenance and settings are left out."


def columns_of(experiment: Experiment) -> dict[str, type]:
    """The columns of an experiment's table: with those of its workers, where it has some."""
    placement = experiment.spec.placement
    if placement is None:
        return COLUMNS
    return {**COLUMNS, **dict.fromkeys(placement.columns, str)}


def left_out(experiment: Experiment) -> tuple[Caution, ...]:
    """What a table has no place for."""
    found = [Caution("left-out", _LEFT_OUT)]
    names = ", ".join(level.name for level in experiment.spec.user_levels)
    if names:
        found.append(
            Caution(
                "levels-left-out",
                f"A table has no place for the levels {names} above builds and executions. "
                "Imported again, what shares one of them counts as independent: use "
                "steelyard-json to keep them.",
            )
        )
    return tuple(found)


def table_rows(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """A row for each measurement, and one without metric for a trial that has none.

    ``execution`` counts the trials of one build of a variant, ``iteration`` the values of one
    metric of a trial, both from 0. Variants and metrics come in the order of the specification, for
    what comes first is the baseline, and the primary metric, of who reads the table.
    """
    metrics = {metric.name: metric for metric in experiment.spec.metrics}
    order = {name: place for place, name in enumerate(metrics)}
    executions: dict[tuple[int, int], int] = {}
    placement = experiment.spec.placement
    places = () if placement is None else placement.columns
    for trial in sorted(experiment.trials, key=lambda trial: trial.variant):
        key = (trial.variant, trial.build)
        block = _placed_block(experiment.spec, trial)
        executions[key] = execution = executions.get(key, -1) + 1
        common = {
            "experiment": experiment.spec.identifier,
            "variant": experiment.spec.variants[trial.variant].name,
            "benchmark": experiment.spec.variants[trial.variant].benchmark or None,
            "position": trial.position,
            "block": trial.block,
            "build": trial.build,
            "execution": execution,
            "iteration": None,
            "warmup": trial.warmup,
            "status": trial.status,
            "reason": trial.reason,
            "exit_code": trial.details.get("exit_code"),
            "started_unix_s": trial.started_unix_s,
            "spent_s": trial.spent_s,
            "metric": None,
            "unit": None,
            "direction": None,
            "value": None,
            **{name: placement.level(block, name) for name in places if placement},
        }
        if not any(len(values) for values in trial.measurements.values()):
            yield common
        for name in sorted(trial.measurements, key=lambda name: order.get(name, len(order))):
            values = trial.measurements[name]
            metric = metrics.get(name) or MetricSpec(name, "")
            row = {**common, "metric": name, "unit": metric.unit, "direction": metric.direction}
            for iteration, value in enumerate(values):
                yield {**row, "iteration": iteration, "value": value}


def _placed_block(spec: ExperimentSpec, trial: Trial) -> int:
    """The block whose worker ran a trial: warm-ups are of none, and are run before the block whose
    number their positions count back to (`design/blocks.py`)."""
    of_block = len(spec.variants) * spec.warmup_count
    if trial.block >= 0 or not of_block:
        return trial.block
    return (-1 - trial.position) // of_block
