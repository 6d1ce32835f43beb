"""A database that a service cannot use is refused with what mends it, by the check too."""

from __future__ import annotations

import psycopg
import pytest

from steelyard.service.database_fitness import UnfitDatabaseError, known_versions
from steelyard.service.service_database import ServiceDatabase, database_state
from tests.postgresql import cluster, fresh_database


@pytest.fixture(scope="module")
def socket():
    with cluster() as directory:
        yield directory


def told(address):
    """What is wrong with a database, and what mends it."""
    with pytest.raises(UnfitDatabaseError) as caught:
        database_state(address)
    return caught.value.told, caught.value.mend


def administers(directory, *statements, name="postgres"):
    with psycopg.connect(host=directory, user="tester", dbname=name, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def changed(address, statement):
    """The same database, with something changed by a service's own user."""
    database = ServiceDatabase(address)
    with database.writing() as connection:
        connection.exec_driver_sql(statement)
    database.close()


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_does_not_keep_every_text_is_refused_at_the_start(socket, encoding) -> None:
    administers(
        socket,
        f"CREATE DATABASE {encoding} ENCODING '{encoding}' TEMPLATE template0 "
        "LC_COLLATE 'C' LC_CTYPE 'C'",
    )
    address = f"postgresql://tester@/{encoding.lower()}?host={socket}"
    wrong, mend = told(address)
    assert (encoding in wrong, "--encoding=UTF8" in mend) == (True, True)
    with pytest.raises(UnfitDatabaseError, match=encoding):
        ServiceDatabase(address)


def test_the_encoding_of_the_environment_changes_nothing(socket, monkeypatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "SQL_ASCII")
    with fresh_database(socket, "asked") as address:
        changed(address, "SELECT 1")
        assert max(known_versions()) in database_state(address)


def test_a_database_of_a_newer_version_is_no_database_to_use(socket, tmp_path) -> None:
    newer = "UPDATE alembic_version SET version_num = '9999'"
    with fresh_database(socket, "newer") as address:
        for each in (address, str(tmp_path / "s.sqlite")):
            changed(each, newer)
            assert "9999" in told(each)[0]


def test_a_database_without_the_rights_that_a_service_needs_is_told(socket) -> None:
    with fresh_database(socket, "poor") as address:
        administers(socket, "CREATE ROLE poor LOGIN")
        poor = address.replace("tester@", "poor@")
        assert "OWNER TO USER" in told(poor)[1]
        changed(address, "SELECT 1")
        assert "belongs to tester" in told(poor)[0]
        administers(socket, "ALTER DATABASE poor SET default_transaction_read_only = on")
        assert "takes no changes" in told(address)[0]
