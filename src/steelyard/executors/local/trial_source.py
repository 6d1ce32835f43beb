"""What runs the trials of a plan: the one protocol of sources, and trials that could not be run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from steelyard.core.experiment_results import FailureReason, Trial
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.design.blocks import PlannedTrial
from steelyard.measure.trial_journal import JournalWriter, trial_from_record


class TrialSource(Protocol):
    """Runs what is queued, and gives trials as they end.

    A source may stand before another: it does what a trial needs before it is run, changes its
    program, and hands both on.
    """

    def queue(self, trial: PlannedTrial, program: Variant) -> None:
        """Queue one trial of `program`; it runs after those that were queued before."""
        ...

    def take(self) -> Iterable[Trial]:
        """The trials that have ended; waits for one, but not much longer than a second."""
        ...

    def abandon(self) -> list[Trial]:
        """End the running trial, forget those that wait, and give those that had ended."""
        ...


@dataclass(frozen=True)
class Failure:
    """Why trials cannot be run: what their records say."""

    reason: FailureReason
    error: str
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])


def failed_trial(
    spec: ExperimentSpec, journal: JournalWriter, trial: PlannedTrial, failure: Failure
) -> Trial:
    """The trial that could not be run, committed to the journal as if it had."""
    record = {
        "trial": trial.position,
        **{name: getattr(trial, name) for name in ("block", "variant", "build", "warmup")},
        "status": "failed",
        "reason": failure.reason,
        "error": failure.error,
        **failure.about,
        "started_unix_ns": time.time_ns(),
        "spent_ns": 0,
    }
    journal.append(record)
    return trial_from_record(record, spec.metrics, {})
