"""What people and programs did with a service, kept beside what it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from steelyard.service.service_schema import audit_entries


def note(
    connection: Connection, now_s: float, account: str, action: str, about: str, detail: str = ""
) -> None:
    """Add an entry in the transaction of what it is about. No secret belongs into it."""
    values = {
        "unix_s": now_s,
        "account": account,
        "action": action,
        "object": about,
        "detail": detail,
    }
    connection.execute(insert(audit_entries).values(values))


def entries_before(connection: Connection, before: int | None, count: int) -> Sequence[Any]:
    """Entries, the newest first; with `before` those whose numbers are lower."""
    newest = select(audit_entries).order_by(audit_entries.c.id.desc()).limit(count)
    if before is not None:
        newest = newest.where(audit_entries.c.id < before)
    return connection.execute(newest).all()
