"""One service uses a database, and a directory of files, at a time.

A second one would make the tokens of the first worthless, and take away what is being uploaded to
it. What holds them goes with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable

from sqlalchemy import Connection, Engine

from steelyard.core.errors import UsageError
from steelyard.core.private_file import make_private_directories, make_private_file

# Any number will do; this one is 'steelya'.
_LOCK_NUMBER = 0x737465656C7961
# The database sees the end of a service that was killed a little later.
_WAITS_S = (0.0, 0.1, 0.2, 0.5, 1.0)
# A machine that lost its power says no farewell: 30 s + 3 x 10 s, where the way is a network.
_KEEP_ALIVE = {
    "tcp_keepalives_idle": 30,
    "tcp_keepalives_interval": 10,
    "tcp_keepalives_count": 3,
}


def hold_file(path: str, field: str, shown: str = "") -> Callable[[], None]:
    """Be the one service that uses a file, which is made if it is missing; what lets it go.

    Raises
    ------
    UsageError
        Another service has it.
    OSError
        It cannot be made or opened.
    """
    make_private_directories(os.path.dirname(path))
    make_private_file(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise _taken(shown or path, field) from None
    return lambda: os.close(descriptor)


def hold_database(engine: Engine, shown: str) -> Callable[[], None]:
    """Be the one service that uses a database of PostgreSQL; what lets it go.

    Raises
    ------
    UsageError
        Another service has it.
    """
    connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def release() -> None:
        # Not back to others: the lock is the connection's.
        connection.invalidate()
        connection.close()

    try:
        for name, value in _KEEP_ALIVE.items():
            connection.exec_driver_sql(f"SET {name} = {value}")
        if any(_tried(connection, wait_s) for wait_s in _WAITS_S):
            return release
    except BaseException:
        release()
        raise
    release()
    raise _taken(shown, "--database")


def _tried(connection: Connection, wait_s: float) -> bool:
    time.sleep(wait_s)
    got = connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({_LOCK_NUMBER})").scalar()
    return bool(got)


def _taken(what: str, field: str) -> UsageError:
    return UsageError(
        f"Another service runs with {what}. End that one, or give this one a database and a store "
        "of its own: --database, --store.",
        field=field,
    )
