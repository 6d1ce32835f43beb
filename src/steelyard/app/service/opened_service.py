"""A service over the database that is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.app.service.service import Service
from steelyard.service.service_database import ServiceDatabase


@contextmanager
def opened_service(database: str, packages: str) -> Iterator[Service]:
    """Open the database, brought up to date, and close it at the end.

    Parameters
    ----------
    database : str
        A file or an address.
    packages : str
        The directory of benchmark packages.

    Raises
    ------
    UsageError, StoreError
        It is no address, or cannot be used.
    """
    opened = ServiceDatabase(database)
    try:
        service = Service(opened, packages)
        service.packages.clear()
        service.archives.clear()
        service.builds.clear()
        yield service
    finally:
        opened.close()
