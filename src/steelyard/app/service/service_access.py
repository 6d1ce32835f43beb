"""Whose a token is, and who gets one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from steelyard.app.service.service_room import ServiceRoom
from steelyard.app.service.who_may import (
    DeniedError,
    NotAllowedError,
)
from steelyard.core.errors import DataError, UsageError
from steelyard.service.accounts import (
    SCOPES,
    Identity,
    add_account,
    add_token,
    identity_of,
    revoke_tokens,
)
from steelyard.service.audit_log import note
from steelyard.service.host_readings import (
    drifts_of,
    set_aside,
)
from steelyard.service.workers import (
    Worker,
    enrol_worker,
    worker_of,
)

OWNER = "owner"
# A host with many images and libraries tells a hundredth of it.
MOST_FACTS_BYTES = 1 << 20


class ServiceAccess(ServiceRoom):
    """The people, programs and workers that a service knows by their tokens."""

    def owner(self) -> Identity:
        """The one person whose laptop this is: whoever has the address of its pages."""
        with self._database.writing() as connection:
            account = add_account(connection, OWNER, "administrator", self.clock())
        return Identity(account, OWNER, "administrator", frozenset(SCOPES))

    def owner_token(self, name: str) -> str:
        """A new token of the one person whose laptop this is; those before it are worthless."""
        now_s = self.clock()
        with self._database.writing() as connection:
            account = add_account(connection, OWNER, "administrator", now_s)
            revoke_tokens(connection, account, name)
            return add_token(connection, account, name, SCOPES, now_s)

    def identity(self, token: str, scope: str) -> Identity:
        """Whose token it is.

        Raises
        ------
        DeniedError
            Nobody's.
        NotAllowedError
            It is not for what is asked.
        """
        with self._database.reading() as connection:
            found = identity_of(connection, token, self.clock())
        if found is None:
            raise DeniedError("The token is not known, or is too old. Ask for another.")
        if not found.may(scope):
            raise NotAllowedError(
                f"The token of {found.name} is not for this: it lacks the scope {scope!r}."
            )
        return found

    def worker(self, token: str) -> Worker:
        """Whose token it is.

        Raises
        ------
        DeniedError
            No worker's.
        """
        with self._database.reading() as connection:
            found = worker_of(connection, token)
        if found is None:
            raise DeniedError(
                "No worker has this token; another may have been enrolled by its name since. "
                "Enrol it again."
            )
        return found

    def enrol(self, who: Identity, name: str, facts: Mapping[str, Any]) -> str:
        """Enrol a host as a worker; the token that it uses from now on.

        Raises
        ------
        UsageError
            The name is none, or another account's worker has it.
        DataError
            The facts are too many, or cannot be shown to others.
        """
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise UsageError(
                f"A worker's name has 1 to 100 characters that can be read, not {name!r}.",
                field="--name",
            )
        _refuse_unreadable(facts)
        with self._database.writing() as connection:
            number, token = enrol_worker(connection, who.account_id, name, facts, self.clock())
            # A restart makes no host as fast as it was.
            set_aside(connection, number, drifts_of(connection, number))
            note(connection, self.clock(), who.name, "enrol", f"worker {name}")
        return token


def _refuse_unreadable(facts: Mapping[str, Any]) -> None:
    """See that facts can be told to everyone who asks for the workers: all are told at once."""
    try:
        told = json.dumps(dict(facts), ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise DataError(
            "facts has a number that is none, half a character, or is nested too deep.",
            field="facts",
        ) from None
    if len(told) > MOST_FACTS_BYTES:
        raise DataError(f"facts has at most {MOST_FACTS_BYTES >> 20} MiB.", field="facts")
