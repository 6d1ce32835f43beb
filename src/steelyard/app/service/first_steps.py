"""What a service says at its start to whoever keeps it: how the first person gets in."""

from __future__ import annotations

from steelyard.app.service.people import People
from steelyard.app.service.service import Service
from steelyard.app.service.service_settings import ServiceSettings
from steelyard.core.errors import UsageError
from steelyard.service.accounts import SCOPES, Identity
from steelyard.service.service_database import ServiceDatabase

# Whoever may read the database may let people in; the audit log says that it was at a terminal.
_KEEPER = Identity(0, "(at a terminal)", "administrator", frozenset(SCOPES))


def first_steps(service: Service, settings: ServiceSettings, address: str) -> list[str]:
    """A link by which the first administrator gets in, while there is none."""
    people = People(service.database, service.clock)
    if not settings.sign_in or not people.needs_first():
        return []
    secret = people.invite(service.access.owner(), "administrator")
    return [f"{address}welcome/{secret} makes the first administrator's account (for 24 hours)"]


def invitation_link(settings: ServiceSettings, database: str) -> str:
    """A link by which someone makes an administrator's account; also where nobody gets in.

    Raises
    ------
    UsageError
        Nobody signs in at this service, or its address is not known before it runs.
    """
    if not settings.sign_in:
        raise UsageError(
            "--invite: nobody signs in at this service. Give its `address` in the file of "
            "--config.",
            field="--invite",
        )
    if settings.address is None and settings.port == 0:
        raise UsageError(
            "--invite: the port of this service is not known. Give `port` or `address` in the file "
            "of --config.",
            field="--invite",
        )
    address = settings.address or f"http://{settings.listen}:{settings.port}/"
    opened = ServiceDatabase(database)
    try:
        secret = People(opened).invite(_KEEPER, "administrator")
    finally:
        opened.close()
    return f"{address}welcome/{secret}"
