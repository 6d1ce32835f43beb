"""Keeping a planned experiment with all its parts, within a transaction of the caller's."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from steelyard.app.service.planned_submission import PlannedSubmission, new_parts
from steelyard.app.service.quotas import Quotas, refuse_past_quota
from steelyard.service.accounts import Identity
from steelyard.service.audit_log import note
from steelyard.service.submissions import NewSubmission, add_submission
from steelyard.service.submitted_packages import keep_submitted_packages
from steelyard.service.workers import all_workers


def keep_planned(
    connection: Connection,
    who: Identity,
    planned: PlannedSubmission,
    row: NewSubmission,
    digests: Mapping[str, str],
    quotas: Quotas,
) -> None:
    """Keep it, if the account's quotas allow, and note in the audit log who sent
    it. `digests` are those of its packages by their names in the file.

    Raises
    ------
    UsageError
        The account has used too much.
    """
    cost_s = None if planned.estimated_s is None else planned.estimated_s * len(planned.workers)
    asked = (planned.trial_count, cost_s)
    refuse_past_quota(connection, who, quotas, asked, row.created_unix_s)
    number = add_submission(connection, row, new_parts(planned, list(all_workers(connection))))
    keep_submitted_packages(connection, number, digests)
    count = len(planned.workers)
    detail = f"{planned.trial_count} trials on {count} worker{'s' * (count != 1)}"
    about = f"experiment {row.identifier}"
    note(connection, row.created_unix_s, who.name, "submit", about, detail)
