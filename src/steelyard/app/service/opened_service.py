"""A service over the database that is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.app.service.service import Service
from steelyard.service.service_database import ServiceDatabase


@contextmanager
def opened_service(database: str) -> Iterator[Service]:
    """Open the database, brought up to date, and close it at the end.

    Raises
    ------
    UsageError, StoreError
        It is no address, or cannot be used.
    """
    opened = ServiceDatabase(database)
    try:
        yield Service(opened)
    finally:
        opened.close()
