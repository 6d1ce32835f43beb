"""Experiments that were sent: their plan, the parts of it, and how far they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func, insert, select, update

from steelyard.service.service_schema import (
    accounts,
    attempts,
    committed_trials,
    parts,
    submissions,
    workers,
)

OPEN_STATES = ("queued", "running")


@dataclass(frozen=True)
class NewPart:
    """A block: number, worker, place in that one's order, trials, who else may run it, what the
    worker is brought to, and the block that it repeats."""

    block: int
    worker_id: int
    place: int
    positions: tuple[int, ...]
    substitutes: tuple[int, ...] = ()
    levels: Mapping[str, str] = field(default_factory=dict[str, str])
    twin: int | None = None


@dataclass(frozen=True)
class NewSubmission:
    """What is sent: see `service_schema.submissions`."""

    identifier: str
    account_id: int
    name: str
    visibility: str
    file: str
    specification: str
    plan: str
    trial_count: int
    priority: int
    created_unix_s: float
    reboot: str = "never"
    going_on: str = ""
    time_limit_s: float | None = None
    cost_limit_s: float | None = None
    follow_up: str = ""
    batch: str = ""


@dataclass(frozen=True)
class SubmissionSummary:
    """What is told of an experiment before and after it is sent.

    `fewest` says whether no set of fewer workers gives what is asked; `estimated_s` is until the
    last worker has ended, None where the benchmarks do not say what a trial takes. `goes_on` says
    whether there are further blocks until it is precise enough; `estimated_from` by what the
    estimate is known.
    """

    experiment: str
    trial_count: int
    block_count: int
    workers: tuple[str, ...]
    fewest: bool
    estimated_s: float | None
    goes_on: bool = False
    estimated_from: str | None = None


@dataclass(frozen=True)
class ListedSubmission:
    """An experiment of the service in a list, and how far it is."""

    id: int
    identifier: str
    account: str
    name: str
    visibility: str
    trial_count: int
    committed_count: int
    created_unix_s: float
    state: str


@dataclass(frozen=True)
class Submission(ListedSubmission):
    """One experiment, with its file and what was planned from it."""

    file: str
    specification: str
    going_on: str = ""
    stopped: str = ""
    follow_up: str = ""


def add_submission(connection: Connection, sent: NewSubmission, blocks: Sequence[NewPart]) -> int:
    """Keep an experiment with all its parts; its number."""
    values = {**vars(sent), "state": "queued"}
    number = connection.execute(
        insert(submissions).values(values).returning(submissions.c.id)
    ).scalar_one()
    connection.execute(insert(parts), _rows(number, blocks))
    return number


def add_parts(connection: Connection, submission_id: int, blocks: Sequence[NewPart]) -> None:
    """Further blocks of an experiment, whose trials count as planned from now on."""
    connection.execute(insert(parts), _rows(submission_id, blocks))
    count = sum(position >= 0 for part in blocks for position in part.positions)
    chosen = update(submissions).where(submissions.c.id == submission_id)
    connection.execute(chosen.values(trial_count=submissions.c.trial_count + count))


def _rows(submission_id: int, blocks: Sequence[NewPart]) -> list[dict[str, Any]]:
    return [
        {
            "submission_id": submission_id,
            "block": part.block,
            "worker_id": part.worker_id,
            "place": part.place,
            "positions": json.dumps(part.positions),
            "substitutes": json.dumps(part.substitutes),
            "state": "waiting",
            "attempt": 0,
            "levels": json.dumps(dict(part.levels)),
            "twin": part.twin,
        }
        for part in blocks
    ]


def paused_submissions(connection: Connection) -> list[Submission]:
    """Those that go on until they are precise, and of which no block waits or runs."""
    left = exists().where(
        parts.c.submission_id == submissions.c.id, parts.c.state.in_(("waiting", "given"))
    )
    chosen = _whole().where(
        submissions.c.state.in_(OPEN_STATES), submissions.c.going_on != "", ~left
    )
    return [Submission(*row) for row in connection.execute(chosen.order_by(submissions.c.id))]


def block_count(connection: Connection, submission_id: int, *, lock: bool = False) -> int:
    """How many blocks an open experiment has; -1 where it has ended. With `lock` nobody else
    changes it until the transaction ends."""
    chosen = select(submissions.c.id).where(
        submissions.c.id == submission_id, submissions.c.state.in_(OPEN_STATES)
    )
    if (
        connection.execute(chosen.with_for_update(key_share=True) if lock else chosen).first()
        is None
    ):
        return -1
    counted = select(func.count()).where(parts.c.submission_id == submission_id)
    return int(connection.execute(counted).scalar_one())


def stop_submission(connection: Connection, submission_id: int, why: str) -> None:
    """End an experiment that needs no further blocks, or gets none."""
    chosen = update(submissions).where(submissions.c.id == submission_id)
    connection.execute(chosen.values(state="done", stopped=why))


def _listed(*more: Any) -> Any:
    return select(
        submissions.c.id,
        submissions.c.identifier,
        accounts.c.name.label("account"),
        submissions.c.name,
        submissions.c.visibility,
        submissions.c.trial_count,
        submissions.c.committed_count,
        submissions.c.created_unix_s,
        submissions.c.state,
        *more,
    ).join(accounts, submissions.c.account_id == accounts.c.id)


def _whole() -> Any:
    return _listed(
        submissions.c.file,
        submissions.c.specification,
        submissions.c.going_on,
        submissions.c.stopped,
        submissions.c.follow_up,
    )


def newest_submissions(
    connection: Connection, count: int, who: str | None, visibilities: Sequence[str]
) -> list[ListedSubmission]:
    """The newest first: those of an account, and those with one of the visibilities.

    `who` of None stands for everyone's.
    """
    chosen = _listed().order_by(submissions.c.id.desc()).limit(count)
    if who is not None:
        seen = submissions.c.visibility.in_(visibilities)
        chosen = chosen.where(seen | (accounts.c.name == who))
    return [ListedSubmission(*row) for row in connection.execute(chosen)]


# What each page of an experiment asks is put together once: that costs as much as its answer.
_FOUND = _whole().where(submissions.c.identifier == bindparam("identifier"))
_STATES = (
    select(parts.c.state, func.count())
    .where(parts.c.submission_id == bindparam("submission_id"))
    .group_by(parts.c.state)
)
_FAULTS = (
    select(parts.c.block, workers.c.name, attempts.c.outcome, attempts.c.message)
    .join(parts, attempts.c.part_id == parts.c.id)
    .join(workers, attempts.c.worker_id == workers.c.id)
    .where(
        parts.c.submission_id == bindparam("submission_id"),
        attempts.c.outcome.in_(("failed", "lost")),
    )
    .order_by(attempts.c.id.desc())
    .limit(bindparam("count"))
)


def find_submission(connection: Connection, identifier: str) -> Submission | None:
    """The submission of an identifier."""
    row = connection.execute(_FOUND, {"identifier": identifier}).first()
    return None if row is None else Submission(*row)


def committed_rows(connection: Connection, submission_id: int) -> Sequence[Any]:
    """Its trials by position: the JSON of each, its block, the worker that ran it, and what
    that one was brought to."""
    chosen = (
        select(committed_trials, workers.c.name.label("worker"), parts.c.block, parts.c.levels)
        .join(workers, committed_trials.c.worker_id == workers.c.id)
        .join(parts, committed_trials.c.part_id == parts.c.id)
        .where(committed_trials.c.submission_id == submission_id)
        .order_by(committed_trials.c.position)
    )
    return connection.execute(chosen).all()


def files_of(connection: Connection, identifiers: Sequence[str]) -> dict[str, str]:
    """The experiment files of some experiments."""
    chosen = select(submissions.c.identifier, submissions.c.file)
    rows = connection.execute(chosen.where(submissions.c.identifier.in_(identifiers)))
    return {str(identifier): str(file) for identifier, file in rows}


def newest_trials(connection: Connection, submission_id: int, count: int) -> list[str]:
    """The JSON of its trials that were planned last, at most so many."""
    chosen = (
        select(committed_trials.c.trial)
        .where(committed_trials.c.submission_id == submission_id)
        .order_by(committed_trials.c.position.desc())
        .limit(count)
    )
    return [str(text) for text in connection.execute(chosen).scalars()]


def part_states(connection: Connection, submission_id: int) -> dict[str, int]:
    """How many of its parts are in which state."""
    rows = connection.execute(_STATES, {"submission_id": submission_id})
    return {str(state): int(count) for state, count in rows}


def running_on(connection: Connection, submission_id: int) -> list[str]:
    """The names of the workers that have parts of it now."""
    chosen = (
        select(workers.c.name)
        .join(parts, parts.c.worker_id == workers.c.id)
        .where(parts.c.submission_id == submission_id, parts.c.state == "given")
        .distinct()
        .order_by(workers.c.name)
    )
    return [str(name) for name in connection.execute(chosen).scalars()]


def newest_faults(
    connection: Connection, submission_id: int, count: int
) -> list[tuple[int, str, str, str]]:
    """Attempts that came to nothing, the newest first: block, worker, outcome and why."""
    rows = connection.execute(_FAULTS, {"submission_id": submission_id, "count": count})
    return [(row.block, row.name, row.outcome, row.message) for row in rows]


def cancel_submission(connection: Connection, submission_id: int, why: str = "") -> bool:
    """Give nothing more of it out; whether it was not ended already. What was measured stays."""
    chosen = (submissions.c.id == submission_id) & submissions.c.state.in_(OPEN_STATES)
    ended = connection.execute(
        update(submissions).where(chosen).values(state="cancelled", stopped=why)
    )
    return ended.rowcount > 0


def open_trials(connection: Connection, account_id: int) -> int:
    """How many trials of an account's open experiments were planned; nobody sends more by the
    account until the transaction ends."""
    held = select(accounts.c.id).where(accounts.c.id == account_id)
    connection.execute(held.with_for_update(key_share=True))
    chosen = (submissions.c.account_id == account_id) & submissions.c.state.in_(OPEN_STATES)
    counted = select(func.coalesce(func.sum(submissions.c.trial_count), 0)).where(chosen)
    return int(connection.execute(counted).scalar_one())


def set_visibility(connection: Connection, submission_id: int, visibility: str) -> None:
    """Say who may see it; see `service_schema.submissions`."""
    chosen = update(submissions).where(submissions.c.id == submission_id)
    connection.execute(chosen.values(visibility=visibility))
