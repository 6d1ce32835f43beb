"""How the store is opened: SQLite made safe against kills, full disks and company.

The rollback journal is kept rather than WAL: the store stays one file, its header tells its
version to whoever does not open it, and home directories on NFS work. ``synchronous=EXTRA``
also syncs the directory, because an experiment's journal is deleted right after its commit.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from steelyard.core.errors import StoreError
from steelyard.core.private_file import make_private_file
from steelyard.store.hostile_store import check_beside, check_schema
from steelyard.store.store_location import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    newer_version_message,
)

BUSY_TIMEOUT_S = 30.0
# From here on no values of the environment are kept that explain no result.
_SCRUBBED_VERSION = 4
KEEPING = "What was measured stays in its journal until the store takes it."

_ADVICE = {
    "SQLITE_FULL": f"the disk is full. Free some space. {KEEPING}",
    "SQLITE_READONLY": f"it cannot be written. Mend its permissions. {KEEPING}",
    "SQLITE_CANTOPEN": "it cannot be opened. Mend the permissions of the file and its directory, "
    "or name another file with --store.",
    "SQLITE_PERM": "permission is denied. Mend the permissions of the file and its directory.",
    "SQLITE_BUSY": "another process holds it for longer than "
    f"{BUSY_TIMEOUT_S:.0f} s. Try again when that has ended. {KEEPING}",
    "SQLITE_IOERR": "the disk gives an input/output error. Check the disk (dmesg tells more).",
}
_DAMAGED = (
    "it is damaged. Move it away (mv {path} {path}.damaged): a new one is made then. "
    "`sqlite3 {path}.damaged .recover` may get experiments back."
)


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Turn what SQLite says into a message that names the file and what to do."""
    try:
        yield
    except DBAPIError as error:
        raise _store_error(path, error.orig) from error
    except sqlite3.Error as error:
        raise _store_error(path, error) from error


def _store_error(path: str, cause: BaseException | None) -> StoreError:
    name = getattr(cause, "sqlite_errorname", "") or ""
    for prefix, advice in _ADVICE.items():
        if name.startswith(prefix):
            return StoreError(f"The store {path} cannot be used: {advice}", field="--store")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        advice = _DAMAGED.format(path=path)
        return StoreError(f"The store {path} cannot be read: {advice}", field="--store")
    return StoreError(
        f"The store {path} refused: {cause}. If it was edited by hand, restore a copy of it.",
        field="--store",
    )


def open_engine(path: str) -> Engine:
    """An engine for the file `path`, which is read only where this user may not write it."""
    read_only = os.path.exists(path) and not os.access(path, os.W_OK)
    uri = f"file:{quote(path)}" + ("?mode=ro" if read_only else "")

    def connect() -> sqlite3.Connection:
        check_beside(path)
        if not read_only:
            with suppress(OSError):  # SQLite tells better than this what is wrong.
                make_private_file(path)
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = EXTRA")
        # A store may be another's: see hostile_store.py.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        # What is deleted may hold secrets.
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    # The driver's own transactions would start late and not cover DDL.
    event.listen(engine, "begin", _begin)
    return engine.execution_options(read_only=read_only)


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def stored_version(connection: Connection) -> int:
    """The version of the schema that the store has; 0 for an empty file."""
    return connection.execute(text("PRAGMA user_version")).scalar_one()


def bring_up_to_date(engine: Engine, path: str, scripts: str | None = None) -> None:
    """Run the migrations that the store lacks, all of them in one transaction.

    Parameters
    ----------
    scripts : str, optional
        Directory of the migrations; the package's own by default.

    Raises
    ------
    StoreError
        The store is newer than this Steelyard, or belongs to another program.
    """
    with store_errors(path), engine.connect() as connection:
        version = stored_version(connection)
        if version > SCHEMA_VERSION:
            raise StoreError(newer_version_message(path, version), field="--store")
        check_schema(connection, path)
    if version == SCHEMA_VERSION and scripts is None:
        return
    with store_errors(path), _foreign_keys_off(engine) as connection, connection.begin():
        # Another process may have upgraded it while this one waited for the lock.
        if stored_version(connection) == version:
            _upgrade(connection, scripts)
            broken = connection.execute(text("PRAGMA foreign_key_check")).first()
            if broken is not None:
                raise StoreError(f"The store {path} has rows without their owner: {broken}.")
    if version:
        _shrink(engine, always=version < _SCRUBBED_VERSION)


def _shrink(engine: Engine, *, always: bool) -> None:
    """Give back the room of what a migration left: best effort, for it takes as much again.

    `always` writes the file anew also where little room is to be had: pages that were freed
    before may hold what the migration took out.
    """
    with suppress(DBAPIError), engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        with suppress(sqlite3.Error):
            free, all_pages = (
                raw.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("freelist_count", "page_count")
            )
            if always or free > all_pages / 4:
                raw.execute("VACUUM")


@contextmanager
def _foreign_keys_off(engine: Engine) -> Iterator[Connection]:
    """A connection on which a table may be rebuilt without its children being deleted."""
    with engine.connect().execution_options(writing=True) as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        raw.execute("PRAGMA foreign_keys = OFF")
        # Tables of whole experiments are dropped: the file is written anew after it.
        raw.execute("PRAGMA secure_delete = OFF")
        yield connection


def _upgrade(connection: Connection, scripts: str | None) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    directory = scripts or os.path.join(os.path.dirname(__file__), "migrations")
    config = Config()
    config.set_main_option("script_location", directory.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    head = ScriptDirectory.from_config(config).get_current_head()
    connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))
    connection.execute(text(f"PRAGMA user_version = {int(head or 0)}"))
