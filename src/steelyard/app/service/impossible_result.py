"""What of a result cannot be, whoever sends it: no plan has it, or no clock gave it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection

from steelyard.app.service.sent_result import SentResult
from steelyard.core.errors import DataError
from steelyard.core.experiment_check import check_trial
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.identifier import is_identifier
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.design.plan_part import plan_part
from steelyard.service.submissions import find_submission
from steelyard.service.workers import Worker

_WALL_TIME = "wall_time"
# Of numbers that are written in seconds and were counted in nanoseconds.
_ROUNDING_S = 1e-6


def impossible_result(spec: ExperimentSpec, trials: Sequence[Trial]) -> str:
    """Why the trials of a result cannot be; empty where nothing is wrong."""
    try:
        for trial in trials:
            check_trial(trial, spec)
        unplanned = _unplanned(spec, trials)
    except DataError as error:
        return error.message
    return unplanned or next(filter(None, (_unmeasured(spec, trial) for trial in trials)), "")


def _unplanned(spec: ExperimentSpec, trials: Sequence[Trial]) -> str:
    """A trial that the plan has not at its place: with it levels would not be balanced."""
    if not trials:
        return ""
    planned = plan_part(spec, [trial.position for trial in trials]).trials
    for plan, trial in zip(planned, trials, strict=True):
        if (trial.variant, trial.warmup) != (plan.variant, plan.warmup):
            return f"its trial at the position {trial.position} is not that of the plan"
    return ""


def _unmeasured(spec: ExperimentSpec, trial: Trial) -> str:
    """A trial that is said to have ended well, and of which nothing was measured; or a program that
    ran longer than its trial took."""
    place = f"its trial at the position {trial.position}"
    if trial.status == "ok" and not any(trial.measurements.values()):
        return f"{place} is ok, and has no measurement"
    source = next((each.source for each in spec.metrics if each.name == _WALL_TIME), "record")
    for value in trial.measurements.get(_WALL_TIME, ()) if source == "record" else ():
        if value > trial.spent_s + _ROUNDING_S:
            return f"{place} ran for {value:.6g} s, and took {trial.spent_s:.6g} s in all"
    return ""


def why_refused(connection: Connection, worker: Worker, sent: SentResult) -> str:
    """Why a result is not looked at, or cannot be; empty where nothing is wrong."""
    if worker.status == "quarantined":
        return f"the worker {worker.name} is in quarantine: {worker.reason}"
    known = is_identifier(sent.experiment)
    found = find_submission(connection, sent.experiment) if known else None
    if found is None:
        return f"there is no experiment {sent.experiment!r}"
    spec = experiment_spec_from_json(json.loads(found.specification))
    return impossible_result(spec, sent.trials)
