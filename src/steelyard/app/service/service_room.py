"""What the parts of a service have: its database, its clock, and a directory of those that keep
files."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from steelyard.service.service_database import ServiceDatabase


class ServiceRoom:
    """A part of a service; each of its calls is one transaction.

    Parameters
    ----------
    database : ServiceDatabase
    clock : callable
        Seconds since the epoch.
    """

    def __init__(self, database: ServiceDatabase, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock


class ServiceFiles(ServiceRoom):
    """A part that keeps files: what is known of them is in the database.

    Parameters
    ----------
    database : ServiceDatabase
    directory : str
    clock : callable
        Seconds since the epoch.
    """

    def __init__(
        self, database: ServiceDatabase, directory: str, clock: Callable[[], float]
    ) -> None:
        super().__init__(database, clock)
        self._directory = os.path.abspath(directory)
        # What one forgets another may be about to keep.
        self._lock = threading.Lock()
