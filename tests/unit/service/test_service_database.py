"""The database of a service: made, brought up to date, refused."""

from __future__ import annotations

import sqlite3

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from steelyard.core.errors import StoreError, UsageError
from steelyard.service.accounts import (
    ROLES,
    SCOPES,
    add_account,
    add_token,
    identity_of,
    revoke_tokens,
)
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.service_schema import metadata


def test_what_migrations_make_is_what_the_code_says(made) -> None:
    with made.database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_it_is_its_owners_alone(tmp_path) -> None:
    path = tmp_path / "new" / "service.sqlite"
    ServiceDatabase(str(path)).close()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("address", ["mysql://a/b", "sqlite:///x", "://"])
def test_an_address_of_something_else_is_refused(address) -> None:
    with pytest.raises(UsageError, match="--database takes a file, or postgresql://"):
        ServiceDatabase(address)


@pytest.mark.parametrize(
    "address",
    [
        "host=127.0.0.1 port=1 password=hunter22",
        "dbname=x password = 'hunter22'",
        "postgresql://ada:hun@ter22@127.0.0.1:1/x",
    ],
)
def test_no_part_of_a_password_is_a_file_or_a_host(tmp_path, monkeypatch, address) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="--database") as caught:
        ServiceDatabase(address)
    assert "ter22" not in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_newer_or_damaged_database_is_one_clear_error(tmp_path) -> None:
    path = tmp_path / "service.sqlite"
    ServiceDatabase(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="newer than this Steelyard"):
        ServiceDatabase(str(path))
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"nothing" * 1000)
    with pytest.raises(StoreError, match="refused"):
        ServiceDatabase(str(bad))
    with pytest.raises(StoreError, match="cannot be used"):
        ServiceDatabase(str(tmp_path / "service.sqlite" / "below"))


def test_a_step_that_fails_keeps_nothing(made) -> None:
    with pytest.raises(RuntimeError), made.database.writing() as connection:
        add_account(connection, "bob", "member", 1.0)
        raise RuntimeError
    with made.database.reading() as connection:
        assert identity_of(connection, "", 1.0) is None
        assert connection.exec_driver_sql("SELECT count(*) FROM accounts").scalar() == 1


def test_a_token_is_kept_as_a_digest_and_works_until_it_is_revoked_or_too_old(made) -> None:
    with made.database.writing() as connection:
        token = add_token(connection, made.account, "ci", ["read", "submit"], 1.0)
        short = add_token(connection, made.account, "short", ["read"], 1.0, expires_unix_s=5.0)
        found = identity_of(connection, token, 10.0)
        assert (found.name, found.may("submit"), found.may("cancel")) == ("ada", True, False)
        assert identity_of(connection, short, 4.9).may("read")
        assert identity_of(connection, short, 5.0) is None
        kept = connection.exec_driver_sql("SELECT digest FROM tokens").scalars().all()
        assert not any(token.removeprefix("steelyard_") in each for each in kept)
        assert revoke_tokens(connection, made.account, "ci") == 1
        assert identity_of(connection, token, 10.0) is None


@pytest.mark.parametrize("role", ROLES)
def test_a_token_gives_no_more_than_the_role_of_its_account(made, role) -> None:
    with made.database.writing() as connection:
        account = add_account(connection, f"a {role}", role, 1.0)
        found = identity_of(connection, add_token(connection, account, "all", SCOPES, 1.0), 2.0)
    assert {scope for scope in SCOPES if found.may(scope)} == ROLES[role]


def test_roles_and_scopes_that_are_none_are_named(made) -> None:
    with made.database.writing() as connection:
        with pytest.raises(UsageError, match="no role 'king'"):
            add_account(connection, "k", "king", 1.0)
        with pytest.raises(UsageError, match="no scope 'all'"):
            add_token(connection, made.account, "t", ["all"], 1.0)


def test_a_database_that_was_started_anew_is_read_and_written_on(address) -> None:
    """What it closed is noticed before it is used; here all other connections of a database are
    ended by one of them."""
    database = ServiceDatabase(address)
    if database.engine.dialect.name == "postgresql":
        with database.reading() as one, database.reading() as two:
            assert one.execute(text("SELECT 1")).scalar() == two.execute(text("SELECT 1")).scalar()
        other = ServiceDatabase(address)
        ended = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
        with other.reading() as connection:
            connection.execute(text(f"{ended} AND datname = current_database()"))
        other.close()
        for record in list(database.engine.pool._pool.queue):
            record.info.clear()
    for _ in range(3):
        with database.writing() as connection:
            add_account(connection, f"p{_}", "member", 1.0)
        with database.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM accounts")).scalar() == _ + 1
    database.close()
