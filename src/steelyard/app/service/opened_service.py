"""A service over the database that is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from steelyard.app.service.service import Service
from steelyard.core.errors import StoreError
from steelyard.service.held_alone import hold_file
from steelyard.service.service_database import ServiceDatabase


@contextmanager
def opened_service(database: str, packages: str) -> Iterator[Service]:
    """Open the database, brought up to date, and close it at the end. Meanwhile no other service
    has it, nor the directory above the packages.

    Parameters
    ----------
    database : str
        A file or an address.
    packages : str
        The directory of benchmark packages.

    Raises
    ------
    UsageError, StoreError
        It is no address, or cannot be used, or another service uses it.
    """
    with ExitStack() as stack:
        stack.callback(_hold_directory(os.path.dirname(packages)))
        opened = ServiceDatabase(database, alone=True)
        stack.callback(opened.close)
        service = Service(opened, packages)
        service.packages.clear()
        service.archives.clear()
        service.builds.clear()
        yield service


def _hold_directory(path: str) -> Callable[[], None]:
    try:
        return hold_file(os.path.join(path, "lock"), "--store", path)
    except OSError as error:
        raise StoreError(
            f"The service cannot keep files in {path}: {error.strerror}.", field="--store"
        ) from None
