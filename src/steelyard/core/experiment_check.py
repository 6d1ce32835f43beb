"""What every experiment keeps, wherever it was read from: the ranges that types do not say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import (
    Experiment,
    FailureReason,
    StopReason,
    Trial,
    TrialStatus,
)
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.core.field_reader import wrong_field
from steelyard.core.identifier import LENGTH, is_identifier
from steelyard.core.repeated_name import repeated_name
from steelyard.core.units import LARGEST_VALUE, LAST_UNIX_S

# Blocks, positions and builds are counted; no plan has more than fit into 32 bits.
LARGEST_INDEX = 2**31 - 1
# Of each metric a place for each trial, for every one that is measured.
_FEW_PLACES, _PLACES_PER_SERIES = 1 << 22, 64
_STATUSES, _REASONS = get_args(TrialStatus), (None, *get_args(FailureReason))


def _require(fits: bool, field: str, wanted: str, found: Any) -> None:
    if not fits:
        raise wrong_field(field, wanted, found)


def is_whole(value: Any, least: int, greatest: int = LARGEST_INDEX) -> bool:
    """Whether `value` is a whole number of a range; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= greatest


def is_between(value: Any, least: float, greatest: float) -> bool:
    """Whether `value` is a number of a range; NaN, true and false are none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and least <= value <= greatest


def check_spec(spec: ExperimentSpec) -> None:
    """Refuse a specification whose fields have the right types and cannot be.

    Raises
    ------
    DataError
        The message names the field.
    """
    _require(
        is_identifier(spec.identifier),
        "experiment.identifier",
        f"{LENGTH} characters of a ULID",
        spec.identifier,
    )
    for name in ("variants", "metrics"):
        _require(bool(getattr(spec, name)), f"experiment.{name}", "a list of at least one", [])
    confidence, margin = spec.confidence, spec.margin_ratio
    _require(0 < confidence < 1, "experiment.confidence", "between 0 and 1", confidence)
    _require(0 <= margin < 1, "experiment.margin_ratio", "from 0 to below 1", margin)
    warmups = spec.warmup_count
    _require(is_whole(warmups, 0), "experiment.warmup_count", f"0 to {LARGEST_INDEX}", warmups)
    stopping = spec.stopping
    for name in ("runs", "budget_runs", "minimum_blocks", "budget_blocks"):
        count = getattr(stopping, name)
        fits = count is None or is_whole(count, 0)
        _require(fits, f"stopping.{name}", f"0 to {LARGEST_INDEX}", count)
    names = [metric.name for metric in spec.metrics]
    twice = repeated_name(names)
    _require(twice is None, "experiment.metrics", "of different names", twice)


def check_metric_value(value: Any, metric: MetricSpec | None, field: str) -> None:
    """Refuse what no measurement is: no number, infinite, implausibly large, a time below 0."""
    wanted = f"a finite number, at most {LARGEST_VALUE:.0e}"
    _require(is_between(value, -LARGEST_VALUE, LARGEST_VALUE), field, wanted, value)
    _require(value >= _least(metric), field, "0 or above, as a time", value)


def _least(metric: MetricSpec | None) -> float:
    """The least value of a metric: what a program prints may be a difference of times."""
    is_time = metric is not None and metric.unit == "s" and metric.source not in ("regex", "json")
    return 0.0 if is_time else -LARGEST_VALUE


def check_trial(
    trial: Trial, spec: ExperimentSpec, metrics: Mapping[str, MetricSpec] | None = None
) -> None:
    """Refuse a trial of which a field is of the wrong type or out of range.

    Parameters
    ----------
    metrics : mapping, optional
        Those of `spec` by name, for whoever checks many trials of many metrics.

    Raises
    ------
    DataError
        The message names the field.
    """
    warmup = trial.warmup is True
    # Warm-ups count down, in a block before the first.
    firsts = {"position": -LARGEST_INDEX if warmup else 0, "block": -1 if warmup else 0, "build": 0}
    for name, least in firsts.items():
        index = getattr(trial, name)
        wanted = f"a whole number from {least} to {LARGEST_INDEX}"
        _require(is_whole(index, least), f"trial.{name}", wanted, index)
    variants = len(spec.variants)
    _require(
        is_whole(trial.variant, 0, variants - 1),
        "trial.variant",
        f"one of {variants} variants, from 0",
        trial.variant,
    )
    _require(type(trial.warmup) is bool, "trial.warmup", "true or false", trial.warmup)
    _require(trial.status in _STATUSES, "trial.status", "ok or failed", trial.status)
    _require(trial.reason in _REASONS, "trial.reason", "a known reason", trial.reason)
    is_explained = trial.status == "failed" or trial.reason is None
    _require(is_explained, "trial.reason", "null where the status is ok", trial.reason)
    for name in ("started_unix_s", "spent_s"):
        time_s = getattr(trial, name)
        _require(is_between(time_s, 0, LAST_UNIX_S), f"trial.{name}", "seconds, 0 or above", time_s)
    _require(
        all(is_whole(level, 0) for level in trial.levels),
        "trial.levels",
        f"whole numbers from 0 to {LARGEST_INDEX}",
        list(trial.levels),
    )
    for name in ("realised", "details"):
        _check_plain(getattr(trial, name), f"trial.{name}")
    known = {metric.name: metric for metric in spec.metrics} if metrics is None else metrics
    _check_measurements(trial, known)


def _check_measurements(trial: Trial, known: Mapping[str, MetricSpec]) -> None:
    for name, values in trial.measurements.items():
        field = f"trial.measurements.{name}"
        metric = known.get(name)
        least = _least(metric)
        for index, value in enumerate(values):
            if type(value) is not float or not least <= value <= LARGEST_VALUE:
                check_metric_value(value, metric, f"{field}[{index}]")


def _check_plain(value: Any, field: str) -> None:
    """Refuse what JSON cannot hold; the fields of a document are otherwise free."""
    _require(isinstance(value, Mapping), field, "an object", value)
    stack: list[Any] = list(cast("Mapping[str, Any]", value).values())
    while stack:
        item = stack.pop()
        if isinstance(item, float):
            _require(math.isfinite(item), field, "of finite numbers", item)
        elif isinstance(item, Mapping):
            stack.extend(cast("Mapping[str, Any]", item).values())
        elif isinstance(item, list | tuple):
            stack.extend(cast("Sequence[Any]", item))


def check_experiment(experiment: Experiment) -> None:
    """Refuse an experiment that a store cannot hold or an analysis cannot take.

    Raises
    ------
    DataError
        The message names the field; of a trial, by its place in the list.
    """
    check_spec(experiment.spec)
    created = experiment.created_unix_s
    _require(is_between(created, 0, LAST_UNIX_S), "created_unix_s", "seconds since 1970", created)
    stopped = experiment.stopped
    _require(stopped in (None, *get_args(StopReason)), "stopped", "a known reason", stopped)
    _check_plain(experiment.provenance, "provenance")
    seen: set[int] = set()
    metrics = {metric.name: metric for metric in experiment.spec.metrics}
    for index, trial in enumerate(experiment.trials):
        try:
            check_trial(trial, experiment.spec, metrics)
        except DataError as error:
            raise DataError(f"trials[{index}]: {error.message}", field=error.field) from None
        _require(trial.position not in seen, "trial.position", "unique", trial.position)
        seen.add(trial.position)
    _check_sparseness(experiment)


def _check_sparseness(experiment: Experiment) -> None:
    """Refuse metrics of which nearly all trials have none: columns have a place for each trial."""
    places = len(experiment.trials) * len(experiment.spec.metrics)
    if places <= _FEW_PLACES:
        return
    measured = sum(len(trial.measurements) for trial in experiment.trials)
    each = measured / len(experiment.trials)
    found = f"{len(experiment.spec.metrics)}, of which a trial has {each:.3g}"
    fits = places <= _FEW_PLACES + _PLACES_PER_SERIES * measured
    _require(fits, "experiment.metrics", "metrics that many trials measure", found)
