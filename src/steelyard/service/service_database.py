"""The database of a service: SQLite on a laptop, PostgreSQL for a cluster, by the same tables."""

from __future__ import annotations

import math
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, SQLAlchemyError

from steelyard.core.errors import StoreError, UsageError
from steelyard.core.private_file import make_private_directories, make_private_file
from steelyard.service.database_fitness import migrations, refuse_encoding, refuse_unfit
from steelyard.service.held_alone import hold_database, hold_file

BUSY_TIMEOUT_S = 30.0
_POSTGRESQL = "postgresql"
# Connections that are kept, and threads that take and send bodies piece by piece.
THREADS, _MORE = 16, 34
# Where that many wait for one that writes, the other connections are for those who read.
_WRITERS = 32
# A connection that was used so shortly before is there.
_TRUSTED_S = 1.0
_USED = "used_monotonic_s"
# Words of libpq, as `psql` takes them, are no file to be made: a password may be among them.
_CONNECTION = re.compile(r"(?:^|\s)(?:host|hostaddr|dbname|user|password|service)\s*=")


class ServiceDatabase:
    """What a service knows, in one database.

    Parameters
    ----------
    address : str
        A file, or an address such as ``postgresql://user@host/name``.
    alone : bool, optional
        Whether no other service may use it meanwhile.

    Raises
    ------
    UsageError
        It is no address, or another service uses it.
    StoreError
        It cannot be opened, or is newer than this Steelyard.
    """

    def __init__(self, address: str, *, alone: bool = False) -> None:
        self._release: Callable[[], None] = lambda: None
        self.shown_address, self.engine = _engine(address)
        self._read = self.engine
        self._writers = threading.BoundedSemaphore(_WRITERS)
        if self.engine.dialect.name == _POSTGRESQL:
            # Its statements see one state each, within a transaction or not: that is left out.
            self._read = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        try:
            if alone:
                self._hold(address)
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read by; each statement sees one state."""
        with self._errors(), self._read.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, or not at all."""
        with (
            self._errors(),
            self._writers,
            self.engine.connect().execution_options(writing=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Give its connections back."""
        # Of a file, last: closing any descriptor of it ends the locks that SQLite has there.
        self.engine.dispose()
        self._release()

    def _hold(self, address: str) -> None:
        with self._errors():
            if self.engine.dialect.name == _POSTGRESQL:
                self._release = hold_database(self.engine, self.shown_address)
                return
            try:
                self._release = hold_file(address, "--database")
            except OSError as error:
                raise _unusable(address, error) from None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            # Of the database's own errors alone: others show values of what was asked.
            told = str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__
            raise StoreError(
                f"The service's database {self.shown_address} refused: "
                f"{told.strip().partition(chr(10))[0]}. Nothing of this step was kept.",
                field="--database",
            ) from error

    def _bring_up_to_date(self) -> None:
        from alembic import command
        from alembic.util import CommandError

        config = migrations()
        with self.writing() as connection:
            refuse_encoding(connection, self.shown_address)
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                raise StoreError(
                    f"The service's database {self.shown_address} is newer than this Steelyard, or "
                    f"another's ({error}). Update Steelyard, or name another with --database.",
                    field="--database",
                ) from None


@contextmanager
def glance_at(address: str) -> Iterator[Connection | None]:
    """Read a database as it is, made by nobody and brought up to date by nobody; None where there
    is nothing yet.

    Raises
    ------
    UsageError
        It is no address.
    StoreError
        It cannot be read.
    """
    if "://" not in address and not os.path.lexists(address):
        directory = os.path.dirname(os.path.abspath(address))
        while not os.path.lexists(directory):
            directory = os.path.dirname(directory)
        if not (os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK)):
            raise StoreError(
                f"The service's database {address} cannot be made: {directory} cannot be written "
                "to.",
                field="--database",
            )
        yield None
        return
    shown, engine = _engine(address)
    try:
        with engine.connect() as connection:
            refuse_unfit(connection, shown)
            has_tables = inspect(connection).has_table("alembic_version")
            yield connection if has_tables else None
    except SQLAlchemyError as error:
        told = str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__
        raise StoreError(
            f"The service's database {shown} refused: {told.strip().partition(chr(10))[0]}.",
            field="--database",
        ) from error
    finally:
        engine.dispose()


def database_state(address: str) -> str:
    """How far a database is, in words; raises as `glance_at`."""
    with glance_at(address) as connection:
        if connection is None:
            return "it is made at the first start"
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return f"it can be used, and has the tables of version {found}"


def _engine(address: str) -> tuple[str, Engine]:
    """What is shown of an address, without its password, and its engine."""
    if "://" not in address and not _CONNECTION.search(address):
        return address, _sqlite_engine(address)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise UsageError(
            "--database takes a file, or postgresql://USER@HOST/NAME.", field="--database"
        ) from None
    if url.get_backend_name() != _POSTGRESQL:
        raise UsageError(
            f"--database takes a file, or postgresql://..., not {url.get_backend_name()}://.",
            field="--database",
        )
    if "@" in (url.host or ""):
        # Taken for a host, the end of a password would stand in what is said of the database.
        raise UsageError(
            "--database has more than one @. Write one that is in a password as %40.",
            field="--database",
        )
    import psycopg

    url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(
        url,
        module=psycopg,
        # Whatever the database or PGCLIENTENCODING says: without an encoding text comes as bytes.
        connect_args={"client_encoding": "utf8"},
        isolation_level="READ COMMITTED",
        pool_size=THREADS,
        max_overflow=_MORE,
    )
    event.listen(engine, "checkin", _note_use)
    event.listen(engine, "checkout", partial(_see_whether_it_lives, engine))
    # What stands behind a question mark may be a password too.
    shown = url.set(drivername=_POSTGRESQL, query={})
    return shown.render_as_string(hide_password=True), engine


def _note_use(_connection: Any, record: Any) -> None:
    record.info[_USED] = time.monotonic()


def _see_whether_it_lives(engine: Engine, connection: Any, record: Any, _proxy: Any) -> None:
    """Make a connection anew that a database closed which was started anew meanwhile. To ask before
    each use would cost more than most answers."""
    if time.monotonic() - record.info.get(_USED, -math.inf) < _TRUSTED_S:
        return
    try:
        engine.dialect.do_ping(connection)
    except engine.dialect.loaded_dbapi.Error as error:
        raise DisconnectionError from error


def _sqlite_engine(path: str) -> Engine:
    if os.path.lexists(path) and not os.path.isfile(path):
        raise StoreError(
            f"The service's database {path} cannot be used: it is not a regular file.",
            field="--database",
        )

    def connect() -> sqlite3.Connection:
        try:
            make_private_directories(os.path.dirname(path))
            make_private_file(path)
        except OSError as error:
            raise _unusable(path, error) from None
        connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        # Readers of pages do not wait for a commit; a service's database is on a local disk.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    engine = create_engine(
        "sqlite://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=THREADS,
        max_overflow=_MORE,
    )
    event.listen(engine, "begin", _begin)
    return engine


def _unusable(path: str, error: OSError) -> StoreError:
    return StoreError(
        f"The service's database {path} cannot be used: {error.strerror}.", field="--database"
    )


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
