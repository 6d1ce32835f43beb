"""Blocks that two workers have run, each as a replicate of its own: what both committed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from steelyard.core.experiment_results import Trial
from steelyard.core.json_codec import trial_from_json
from steelyard.service.service_schema import committed_trials, parts, workers


@dataclass(frozen=True)
class CommittedBlock:
    """A block that was committed: its part, its number, who ran it, and its trials without
    warm-ups."""

    part_id: int
    block: int
    worker_id: int
    worker: str
    trials: tuple[Trial, ...]


def repeated_blocks(
    connection: Connection, submission_id: int
) -> list[tuple[CommittedBlock, CommittedBlock]]:
    """Each block that another worker repeats, and its repetition, where both were committed."""
    chosen = (
        select(parts.c.id, parts.c.block, parts.c.twin, parts.c.worker_id, workers.c.name)
        .join(workers, parts.c.worker_id == workers.c.id)
        .where(parts.c.submission_id == submission_id, parts.c.state == "done")
        .order_by(parts.c.block)
    )
    rows = connection.execute(chosen).all()
    by_block = {row.block: row for row in rows}
    pairs = [(by_block[row.twin], row) for row in rows if row.twin in by_block]
    trials = _trials_of(connection, [row.id for pair in pairs for row in pair])
    return [
        (
            CommittedBlock(one.id, one.block, one.worker_id, one.name, trials.get(one.id, ())),
            CommittedBlock(two.id, two.block, two.worker_id, two.name, trials.get(two.id, ())),
        )
        for one, two in pairs
    ]


def _trials_of(connection: Connection, numbers: Sequence[int]) -> dict[int, tuple[Trial, ...]]:
    chosen = (
        select(committed_trials.c.part_id, committed_trials.c.trial)
        .where(committed_trials.c.part_id.in_(numbers), committed_trials.c.position >= 0)
        .order_by(committed_trials.c.position)
    )
    found: dict[int, tuple[Trial, ...]] = {}
    for row in connection.execute(chosen).all() if numbers else ():
        found[row.part_id] = (*found.get(row.part_id, ()), trial_from_json(json.loads(row.trial)))
    return found


def is_repeated(connection: Connection, part_id: int) -> bool:
    """Whether a part repeats another, or is repeated."""
    return bool(workers_of_repeats(connection, part_id))


def workers_of_repeats(connection: Connection, part_id: int) -> set[int]:
    """The workers of the parts that a part repeats, or that repeat it."""
    own = select(parts.c.submission_id, parts.c.block, parts.c.twin).where(parts.c.id == part_id)
    row = connection.execute(own).first()
    if row is None:
        return set()
    is_twin = parts.c.twin == row.block if row.twin is None else parts.c.block == row.twin
    others = select(parts.c.worker_id).where(parts.c.submission_id == row.submission_id, is_twin)
    return set(connection.execute(others).scalars())
