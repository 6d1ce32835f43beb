"""Results that were measured once and are sent as those of another part, too.

A clock of nanoseconds never gives two parts the same times. Who sends the numbers of another part
copied them, all or some: its own, to be done sooner, or those of another worker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, select

from steelyard.core.experiment_results import Trial
from steelyard.core.hashing import sha256_of
from steelyard.service.service_schema import (
    attempts,
    committed_trials,
    parts,
    submissions,
)

# So many digests in one question: databases limit its parameters.
_AT_ONCE = 500


def trial_digest(trial: Trial) -> str:
    """What a trial measured and when, as 128 bits in hexadecimal, wherever in a plan it stands.

    Empty where nothing was measured: programs that cannot be started fail alike everywhere.
    """
    if not any(trial.measurements.values()):
        return ""
    return sha256_of(_measured(trial).encode()).hex()[:32]


def content_digest(trials: Sequence[Trial]) -> str:
    """As `trial_digest`, of all trials of a part at once; SHA-256."""
    if not any(trial.measurements for trial in trials):
        return ""
    return sha256_of("\n".join(sorted(map(_measured, trials))).encode()).hex()


def _measured(trial: Trial) -> str:
    values = {name: list(values) for name, values in trial.measurements.items()}
    return json.dumps([trial.started_unix_s, trial.spent_s, values], sort_keys=True)


def copied_from(connection: Connection, trials: Sequence[Trial]) -> str:
    """Where numbers of some trials were committed before, or stand twice among them; empty if
    nowhere."""
    digests = [digest for digest in map(trial_digest, trials) if digest]
    if len(set(digests)) < len(digests):
        return "two of its own trials"
    whole = attempts.c.digest == content_digest(trials)
    if digests and (found := _committed(connection, whole)):
        return found
    for first in range(0, len(digests), _AT_ONCE):
        some = select(committed_trials.c.part_id).where(
            committed_trials.c.digest.in_(digests[first : first + _AT_ONCE])
        )
        if found := _committed(connection, parts.c.id.in_(some)):
            return found
    return ""


def _committed(connection: Connection, chosen: ColumnElement[bool]) -> str:
    """The block and the experiment of an attempt that was committed, as one is named."""
    found = connection.execute(
        select(submissions.c.identifier, parts.c.block)
        .join(parts, parts.c.submission_id == submissions.c.id)
        .join(attempts, attempts.c.part_id == parts.c.id)
        .where(chosen, attempts.c.outcome == "committed")
        .limit(1)
    ).first()
    return "" if found is None else f"block {found.block} of the experiment {found.identifier}"
