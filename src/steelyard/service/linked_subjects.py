"""People as an issuer names them, each linked to one account of the service."""

from __future__ import annotations

import re

from sqlalchemy import Connection, insert, select

from steelyard.service.account_changes import Account, find_account, is_account
from steelyard.service.service_schema import linked_subjects

_LONGEST_NAME = 60
_UNREADABLE = re.compile(r"[^\x21-\x7e]+")


def linked_account(connection: Connection, issuer: str, subject: str) -> Account | None:
    """The account of a subject, which may be shut out; None where there is none."""
    chosen = select(linked_subjects.c.account_id).where(
        linked_subjects.c.issuer == issuer, linked_subjects.c.subject == subject
    )
    number = connection.execute(chosen).scalar()
    return None if number is None else find_account(connection, number)


def link_subject(
    connection: Connection, issuer: str, subject: str, account_id: int, now_s: float
) -> None:
    """Let a subject sign in to an account from now on."""
    values = {
        "issuer": issuer,
        "subject": subject,
        "account_id": account_id,
        "linked_unix_s": now_s,
    }
    connection.execute(insert(linked_subjects).values(values))


def free_account_name(connection: Connection, wanted: str) -> str:
    """A name for a newcomer that no account has: what they are called elsewhere, or like it."""
    name = _UNREADABLE.sub("-", wanted).strip("-")[:_LONGEST_NAME] or "newcomer"
    number, found = 1, name
    while is_account(connection, found):
        number += 1
        # With the number it has 64 characters at most.
        found = f"{name[: 63 - len(str(number))]}-{number}"
    return found
