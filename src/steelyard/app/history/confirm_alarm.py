"""Alarms are confirmed by a run of base against candidate before anyone is told of them."""

from __future__ import annotations

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.analysis.history.confirmation import (
    CONFIRMATION_CONFIDENCE,
    confirmation_margin,
    confirmation_verdict,
)
from steelyard.analysis.history.stated_alarms import Confirmation
from steelyard.app.history.measured_revisions import Judging, RevisionRuns
from steelyard.core.errors import BuildFailedError, TrialsFailedError
from steelyard.core.tracks import Alarm


def confirm_alarm(alarm: Alarm, runs: RevisionRuns, budget_s: float | None) -> Confirmation:
    """Compare the revision of an alarm with the last one without the change."""
    change = alarm.changes[0]
    base = change.previous_revision
    if not base:
        return Confirmation("unclear", "", None, "", "there is no revision before it")
    judging = Judging(CONFIRMATION_CONFIDENCE, confirmation_margin(change), budget_s)
    note = f"confirms an alarm: {change.track} at {change.revision[:12]}"
    try:
        experiment = runs.compared(base, change.revision, judging, note, change.track.metric)
    except (BuildFailedError, TrialsFailedError) as error:
        reason = error.message.split("\n")[0]
        return Confirmation("unclear", base, None, "", reason)
    ratio = answer(experiment).comparisons[0].ratio
    verdict = confirmation_verdict(change, ratio)
    reason = "" if verdict != "unclear" else "the run was too short or too noisy to say"
    return Confirmation(verdict, base, ratio, experiment.spec.identifier, reason)
