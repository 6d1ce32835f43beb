"""The database of a service as an earlier version left it, with the data of a present one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import alembic.command
from sqlalchemy import Connection, MetaData, select

from steelyard.service.service_database import ServiceDatabase


@contextmanager
def _opened(address: str, version: str) -> Iterator[tuple[Connection, MetaData]]:
    upgrade = alembic.command.upgrade
    with mock.patch("alembic.command.upgrade", lambda config, _: upgrade(config, version)):
        database = ServiceDatabase(address)
    try:
        with database.writing() as connection:
            found = MetaData()
            found.reflect(connection)
            yield connection, found
    finally:
        database.close()


def make_old_database(address: str, version: str, present: str) -> dict[str, int]:
    """Make a database by the migrations up to a version, and copy what it has a place for from a
    present one; how many rows each table got."""
    counts: dict[str, int] = {}
    with _opened(present, "head") as (source, new), _opened(address, version) as (target, old):
        for table in old.sorted_tables:
            if table.name == "alembic_version":
                continue
            known = [new.tables[table.name].c[each.name] for each in table.columns]
            rows = [dict(row._mapping) for row in source.execute(select(*known))]
            target.execute(table.delete())
            if rows:
                target.execute(table.insert(), rows)
            counts[table.name] = len(rows)
            if "id" in table.c and target.dialect.name == "postgresql":
                target.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                    f'(SELECT coalesce(max(id), 1) FROM "{table.name}"))'
                )
    return counts
