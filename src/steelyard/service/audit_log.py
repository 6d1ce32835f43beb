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


def newest_entries(connection: Connection, count: int) -> Sequence[Any]:
    """The newest entries, the newest first."""
    newest = select(audit_entries).order_by(audit_entries.c.id.desc()).limit(count)
    return connection.execute(newest).all()
