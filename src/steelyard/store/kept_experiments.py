"""Experiments as rows of the database: heads, sessions and chunks of trials."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update

from steelyard.core.errors import StoreError
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.trial_columns import is_rising
from steelyard.core.trial_table import TrialTable
from steelyard.store.merge import new_sessions, sessions_of
from steelyard.store.schema import experiments, sessions, trial_chunks
from steelyard.store.trial_chunk import ChunkReader, chunks_of, dump_json, positions_of


def experiment_id(connection: Connection, identifier: str) -> int | None:
    """The key of its row; None where it is not kept."""
    query = select(experiments.c.id).where(experiments.c.identifier == identifier)
    return connection.execute(query).scalar_one_or_none()


def insert_experiment(connection: Connection, experiment: Experiment) -> int:
    """Write all of an experiment; gives the key of its row."""
    result = connection.execute(
        insert(experiments)
        .values(
            identifier=experiment.spec.identifier,
            kind=experiment.spec.kind,
            created_unix_s=experiment.created_unix_s,
            stopped=experiment.stopped,
            specification=dump_json(experiment.spec),
        )
        .returning(experiments.c.id)
    )
    identity = result.scalar_one()
    _insert_sessions(connection, identity, sessions_of(experiment.provenance), first=0)
    return identity


def continue_experiment(connection: Connection, identity: int, later: Experiment) -> None:
    """Add the sessions that a kept experiment lacks, and how it ended and was asked for since."""
    created = select(experiments.c.created_unix_s).where(experiments.c.id == identity)
    known = read_sessions(connection, identity)
    # Through JSON, as those that are stored have gone.
    given = json.loads(dump_json(sessions_of(later.provenance)))
    added = new_sessions(
        known, connection.execute(created).scalar_one(), given, later.created_unix_s
    )
    connection.execute(
        update(experiments)
        .where(experiments.c.id == identity)
        .values(stopped=later.stopped, specification=dump_json(later.spec))
    )
    _insert_sessions(connection, identity, added, first=len(known))


def _insert_sessions(
    connection: Connection, identity: int, added: Sequence[dict[str, Any]], first: int
) -> None:
    rows = [
        {"experiment_id": identity, "place": first + index, "provenance": dump_json(session)}
        for index, session in enumerate(added)
    ]
    if rows:
        connection.execute(insert(sessions), rows)


def _insert_trials(connection: Connection, identity: int, given: Sequence[Trial]) -> None:
    known: set[int] = set()
    query = select(trial_chunks.c.content).where(trial_chunks.c.experiment_id == identity)
    for content in connection.execute(query).scalars():
        known.update(positions_of(content))
    new = [trial for trial in given if trial.position not in known]
    if len({trial.position for trial in new}) < len(new):
        raise StoreError("An experiment with two trials at one position cannot be stored.")
    for count, content in chunks_of(new):
        row = {"experiment_id": identity, "trial_count": count, "content": content}
        connection.execute(insert(trial_chunks).values(**row))
    counted = [trial for trial in new if not trial.warmup]
    failed = sum(trial.status == "failed" for trial in counted)
    connection.execute(
        update(experiments)
        .where(experiments.c.id == identity)
        .values(
            trial_count=experiments.c.trial_count + len(counted),
            failed_count=experiments.c.failed_count + failed,
        )
    )


def read_sessions(connection: Connection, identity: int) -> list[dict[str, Any]]:
    """The provenance of each session, in their order."""
    query = (
        select(sessions.c.provenance)
        .where(sessions.c.experiment_id == identity)
        .order_by(sessions.c.place)
    )
    found = [json.loads(text) for text in connection.execute(query).scalars()]
    if not all(isinstance(session, dict) for session in found):
        raise ValueError("a session is no object")
    return found


def read_trials(connection: Connection, identity: int, variant_count: int) -> TrialTable:
    """All trials of an experiment, in their order."""
    query = (
        select(trial_chunks.c.content)
        .where(trial_chunks.c.experiment_id == identity)
        .order_by(trial_chunks.c.id)
    )
    reader = ChunkReader(variant_count)
    contents = connection.execute(query).scalars()
    found = TrialTable.joined(reader.trials(content) for content in contents).in_order()
    if not is_rising(found.position):
        raise ValueError("two trials are at one position")
    return found
