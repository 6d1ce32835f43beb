"""A PostgreSQL of the tests' own: a cluster in a directory, reached by a socket there alone."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

_ROOT = Path("/usr/lib/postgresql")
WHY_NOT = "it takes PostgreSQL: apt-get install postgresql"


def programs() -> Path | None:
    """The directory of its programs, of the newest version that is there."""
    found = sorted(_ROOT.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def _run(argv: list[str], user: str | None) -> None:
    done = subprocess.run(
        argv, user=user, capture_output=True, check=False, timeout=PATIENCE_S, cwd="/"
    )
    assert done.returncode == 0, (argv, done.stdout, done.stderr)


@contextmanager
def cluster() -> Iterator[str]:
    """A cluster that runs; gives the directory of its socket. It refuses to be root, so that the
    tests of root run it as another user."""
    found = programs()
    if found is None:
        pytest.skip(WHY_NOT)
    user = "postgres" if os.geteuid() == 0 else None
    # The path of a socket has at most 107 bytes.
    directory = tempfile.mkdtemp(prefix="pg-", dir="/tmp")
    try:
        if user is not None:
            owner = pwd.getpwnam(user)
            os.chown(directory, owner.pw_uid, owner.pw_gid)
        data = f"{directory}/data"
        initdb = [f"{found}/initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync"]
        _run([*initdb, "-E", "UTF8", "--locale", "C.UTF-8"], user)
        settings = ["-c", "listen_addresses=", "-k", directory, "-c", "fsync=off"]
        with subprocess.Popen(
            [f"{found}/postgres", "-D", data, *settings],
            user=user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                _wait(directory, server)
                yield directory
            finally:
                server.terminate()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _wait(directory: str, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            psycopg.connect(host=directory, user="tester", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None
            assert time.monotonic() < deadline_s
            time.sleep(0.02)


@contextmanager
def fresh_database(directory: str, name: str, place: Path | None = None) -> Iterator[str]:
    """A database of a cluster, as an address for `--database`; it goes away at the end. Its tables
    lie in `place`, an empty directory, if that is given."""
    import psycopg

    def admin(statement: str) -> None:
        with psycopg.connect(
            host=directory, user="tester", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(statement.encode())

    where = ""
    if place is not None:
        if os.geteuid() == 0:
            shutil.chown(place, "postgres")
        admin(f"CREATE TABLESPACE place LOCATION '{place}'")
        where = " TABLESPACE place"
    admin(f'CREATE DATABASE "{name}"{where}')
    try:
        yield f"postgresql://tester@/{name}?host={directory}"
    finally:
        admin(f'DROP DATABASE "{name}" WITH (FORCE)')
        if place is not None:
            admin("DROP TABLESPACE place")
