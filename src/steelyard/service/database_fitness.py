"""What keeps a service from using a database that answers, and what mends that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect

from steelyard.core.errors import StoreError

if TYPE_CHECKING:
    from alembic.config import Config

_ENCODING = "UTF8"
_FOREIGN_TABLE = """\
SELECT relname, pg_get_userbyid(relowner) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')
  AND NOT pg_has_role(relowner, 'USAGE')
ORDER BY relname LIMIT 1"""


class UnfitDatabaseError(StoreError):
    """A database is there, and a service cannot use it.

    Parameters
    ----------
    shown : str
        Its address, without its password.
    told : str
        What of it is wrong, with a verb.
    mend : str
        A sentence.
    """

    def __init__(self, shown: str, told: str, mend: str) -> None:
        self.told = f"the database {shown} {told}"
        self.mend = mend
        super().__init__(f"The service's database {shown} {told}. {mend}", field="--database")


def refuse_encoding(connection: Connection, shown: str) -> None:
    """Refuse a database of PostgreSQL that does not keep every text.

    Raises
    ------
    UnfitDatabaseError
    """
    if connection.dialect.name == "sqlite":
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != _ENCODING:
        raise UnfitDatabaseError(
            shown,
            f"has the encoding {encoding}, and a service keeps text as {_ENCODING}",
            "Make another, and restore a backup into it if this one has data: runuser -u postgres "
            "-- createdb --owner=USER --encoding=UTF8 --template=template0 NAME",
        )


def refuse_unfit(connection: Connection, shown: str) -> None:
    """Refuse a database that takes no changes of its user, or that a newer version has changed.

    Raises
    ------
    UnfitDatabaseError
    """
    refuse_encoding(connection, shown)
    if connection.dialect.name != "sqlite":
        _refuse_rights(connection, shown)
    has_tables = inspect(connection).has_table("alembic_version")
    version = (
        has_tables
        and connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    )
    if version and version not in known_versions():
        raise UnfitDatabaseError(
            shown,
            f"has the tables of version {version}, which this Steelyard does not know",
            "Update Steelyard, or name another with --database.",
        )


def _refuse_rights(connection: Connection, shown: str) -> None:
    if connection.exec_driver_sql("SHOW transaction_read_only").scalar() == "on":
        raise UnfitDatabaseError(
            shown,
            "takes no changes",
            "It may be a copy of another server; or see default_transaction_read_only.",
        )
    foreign = connection.exec_driver_sql(_FOREIGN_TABLE).one_or_none()
    if foreign is not None:
        table, owner = foreign
        raise UnfitDatabaseError(
            shown,
            f"has a table {table} that belongs to {owner}",
            "Give each to the user of the service: ALTER TABLE ... OWNER TO USER",
        )
    may_make = "SELECT has_schema_privilege(current_schema(), 'CREATE')"
    if not connection.exec_driver_sql(may_make).scalar():
        raise UnfitDatabaseError(
            shown,
            "does not let its user make tables",
            "Give it to that user: runuser -u postgres -- psql -c "
            "'ALTER DATABASE NAME OWNER TO USER'",
        )


def migrations() -> Config:
    """What brings tables up to date."""
    from alembic.config import Config

    config = Config()
    directory = os.path.join(os.path.dirname(__file__), "migrations")
    config.set_main_option("script_location", directory.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def known_versions() -> set[str]:
    """The versions of tables that this Steelyard knows."""
    from alembic.script import ScriptDirectory

    return {each.revision for each in ScriptDirectory.from_config(migrations()).walk_revisions()}
