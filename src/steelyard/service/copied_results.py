"""Results that were measured once and are sent as those of another part, too.

A clock of nanoseconds never gives two parts the same times. Who sends the numbers of another part
copied them: its own, to be done sooner, or those of another worker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, select

from steelyard.core.experiment_results import Trial
from steelyard.core.hashing import sha256_of
from steelyard.service.service_schema import attempts, parts, submissions


def content_digest(trials: Sequence[Trial]) -> str:
    """What trials measured and when, as SHA-256 in hexadecimal, wherever in a plan they stand.

    Empty where nothing was measured: programs that cannot be started fail alike everywhere.
    """
    if not any(trial.measurements for trial in trials):
        return ""
    measured = sorted(
        json.dumps(
            [
                trial.started_unix_s,
                trial.spent_s,
                {name: list(values) for name, values in trial.measurements.items()},
            ],
            sort_keys=True,
        )
        for trial in trials
    )
    return sha256_of("\n".join(measured).encode()).hex()


def copied_from(connection: Connection, digest: str) -> str:
    """The experiment and the block that were committed with these very numbers; empty if none."""
    if not digest:
        return ""
    found = connection.execute(
        select(submissions.c.identifier, parts.c.block)
        .join(parts, parts.c.submission_id == submissions.c.id)
        .join(attempts, attempts.c.part_id == parts.c.id)
        .where(attempts.c.digest == digest)
        .limit(1)
    ).first()
    return "" if found is None else f"block {found.block} of the experiment {found.identifier}"
