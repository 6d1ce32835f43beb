"""Committing what workers send: each place of an experiment once, whatever is run twice.

The place of a trial in its experiment is the primary key of its row, so that the database refuses
a second one; who sent what, when, and why it was not taken, is kept as an attempt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update

from steelyard.core.experiment_results import Trial
from steelyard.core.json_codec import to_json
from steelyard.service.copied_results import content_digest, copied_from, trial_digest
from steelyard.service.part_attempts import (
    blame_who_failed,
    end_attempt,
    end_submission,
    give_again,
    tries_of,
)
from steelyard.service.repeated_blocks import workers_of_repeats
from steelyard.service.service_schema import attempts, committed_trials, parts, submissions
from steelyard.service.workers import count_fault, forgive_faults, hold_workers

Outcome = Literal["committed", "late", "twice", "refused", "failed"]


@dataclass(frozen=True)
class SentResult:
    """What a worker says came of a part.

    Parameters
    ----------
    part_id, attempt : int
        As they were given.
    experiment : str
    trials : sequence of Trial
        Failed ones too; none where the part could not be run at all.
    provenance : mapping
    failure : str
        Why it could not be run; empty where it was.
    levels : mapping of factor to level
        What the worker was brought to.
    """

    part_id: int
    attempt: int
    experiment: str
    trials: Sequence[Trial]
    provenance: Mapping[str, Any]
    failure: str = ""
    levels: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Taken:
    """What was done with a result, and why."""

    outcome: Outcome
    message: str = ""


def commit_result(connection: Connection, worker_id: int, sent: SentResult, now_s: float) -> Taken:
    """Commit the trials of a result, or say why not. Calling it twice changes nothing more."""
    held = {worker_id, *_concerned(connection, sent.part_id)}
    hold_workers(connection, held)
    row = connection.execute(
        select(parts, submissions.c.identifier)
        .join(submissions, parts.c.submission_id == submissions.c.id)
        .where(parts.c.id == sent.part_id)
        .with_for_update(of=parts, key_share=True)
    ).first()
    given = connection.execute(
        select(attempts).where(
            attempts.c.part_id == sent.part_id, attempts.c.attempt == sent.attempt
        )
    ).first()
    wrong = _wrong(row, given, worker_id, sent)
    if wrong:
        count_fault(connection, worker_id, wrong, proven=True)
        return Taken("refused", wrong)
    assert row is not None
    assert given is not None
    if given.outcome == "committed":
        return Taken("twice", "this attempt was committed before")
    if row.state == "done":
        end_attempt(connection, row.id, sent.attempt, "late", "another attempt was first", now_s)
        return Taken("late", "another attempt of the part was committed before")
    if sent.failure:
        # An attempt that was taken for lost has been followed by the next one already.
        end_attempt(connection, row.id, sent.attempt, "failed", sent.failure, now_s)
        if row.attempt == sent.attempt:
            give_again(connection, row.id, sent.attempt, now_s)
        return Taken("failed", sent.failure)
    origin = copied_from(connection, sent.trials)
    if origin:
        wrong = f"its numbers are those of {origin}"
        count_fault(connection, worker_id, wrong, proven=True)
        return Taken("refused", wrong)
    _commit(connection, row, worker_id, sent, now_s)
    blame_who_failed(connection, row.id, worker_id, held)
    return Taken("committed")


def _concerned(connection: Connection, part_id: int) -> set[int]:
    """The workers that may be at fault where a part is committed."""
    tired = tries_of(connection, part_id).tired
    return {*tired, *workers_of_repeats(connection, part_id)}


def _wrong(row: Any, given: Any, worker_id: int, sent: SentResult) -> str:
    """Why a result cannot be what was asked for; empty where it can."""
    if row is None or given is None:
        return "no such part was given out"
    if given.worker_id != worker_id:
        return "the part was given to another worker"
    if row.identifier != sent.experiment:
        return f"the part belongs to the experiment {row.identifier}"
    if sent.failure:
        return "" if not sent.trials else "a part that could not be run has no trials"
    if dict(sent.levels) != json.loads(row.levels):
        return "the worker was not brought to the levels of the part"
    positions = [trial.position for trial in sent.trials]
    if sorted(positions) != sorted(json.loads(row.positions)):
        return "its trials are not those of the part"
    if any(trial.block != row.block for trial in sent.trials if not trial.warmup):
        return "its trials are not of the part's block"
    return ""


def _commit(
    connection: Connection, row: Any, worker_id: int, sent: SentResult, now_s: float
) -> None:
    rows = [
        {
            "submission_id": row.submission_id,
            "position": trial.position,
            "part_id": row.id,
            "attempt": sent.attempt,
            "worker_id": worker_id,
            "committed_unix_s": now_s,
            "trial": json.dumps(to_json(trial)),
            "digest": trial_digest(trial),
        }
        for trial in sent.trials
    ]
    connection.execute(insert(committed_trials), rows)
    end_attempt(connection, row.id, sent.attempt, "committed", "", now_s)
    chosen = (attempts.c.part_id == row.id) & (attempts.c.attempt == sent.attempt)
    provenance = json.dumps(to_json(sent.provenance))
    digest = content_digest(sent.trials)
    connection.execute(update(attempts).where(chosen).values(provenance=provenance, digest=digest))
    connection.execute(
        update(parts)
        .where(parts.c.id == row.id)
        .values(state="done", attempt=sent.attempt, worker_id=worker_id)
    )
    forgive_faults(connection, worker_id)


def count_committed(connection: Connection, sent: SentResult) -> None:
    """Count the trials of a result that was just committed, and end its experiment if it was the
    last, at the end of its transaction.

    Until that ends nobody else changes the experiment's row: whoever held it and then waited for
    another would be waited for in a circle.
    """
    end_submission(connection, sent.part_id)
    count = sum(trial.position >= 0 for trial in sent.trials)
    chosen = update(submissions).where(submissions.c.identifier == sent.experiment)
    connection.execute(chosen.values(committed_count=submissions.c.committed_count + count))
