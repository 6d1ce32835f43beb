"""`kill -9` of a service, its worker and the trials of it at random instants.

What must hold in the end, by SQL that shares no code with the service: every planned place is there
once, each level as often as planned, nothing failed or waits; and on the machine no process, no
result that was not sent, no directory of a part is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.postgresql import cluster, fresh_database

KILLS = int(os.environ.get("STEELYARD_KILLS", "25"))
BLOCKS, LEVELS = 60, 2
MARK = "STEELYARD_SERVICE_KILLS"
FILE = f"""\
[experiment]
name = "killed"
seed = 7
runs = {BLOCKS}

[[benchmark]]
name = "b"
command = "sleep 0.03"

[[factor]]
factor = "environment-size"
levels = [0, 64]
"""
AUDIT = """
SELECT p.state, t.position, t.trial FROM parts p
LEFT JOIN committed_trials t ON t.part_id = p.id
"""


class Service:
    """A service of a user's own that is started again after each kill."""

    def __init__(self, home: Path, database: str) -> None:
        self.home, self.database = home, database
        self.environment = {
            **os.environ,
            MARK: str(home),
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "XDG_DATA_HOME": str(home / "data"),
            "STEELYARD_LOCK": str(home / "lock"),
        }
        (home / "tmp").mkdir()
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "steelyard.cli.main", *words]

    def start(self) -> None:
        words = ("serve", "--port", "0", "--database", self.database)
        self.process = subprocess.Popen(
            self.command(*words),
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def submit(self) -> None:
        (self.home / "e.toml").write_text(FILE)
        deadline_s = time.monotonic() + PATIENCE_S
        while subprocess.run(
            self.command("submit", "e.toml"),
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            check=False,
        ).returncode:
            assert time.monotonic() < deadline_s
            time.sleep(0.2)

    def processes(self) -> list[int]:
        """All that it and its worker have started, by a variable that they inherit."""
        mark = f"{MARK}={self.home}".encode()
        found: list[int] = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    def rows(self) -> list[tuple[str, int | None, str | None]]:
        if "://" not in self.database:
            connection = sqlite3.connect(self.database, timeout=PATIENCE_S)
            try:
                return connection.execute(AUDIT).fetchall()
            finally:
                connection.close()
        import psycopg

        with psycopg.connect(self.database) as connection:
            return connection.execute(AUDIT).fetchall()


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request, tmp_path):
    if request.param == "sqlite":
        yield from killed_at_the_end(Service(tmp_path, str(tmp_path / "service.sqlite")))
        return
    with cluster() as directory, fresh_database(directory, "kills") as address:
        yield from killed_at_the_end(Service(tmp_path, address))


def killed_at_the_end(service):
    yield service
    for number in service.processes():
        kill(number)
    if service.process is not None:
        service.process.wait(PATIENCE_S)


def kill(number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def test_whatever_is_killed_each_place_is_committed_once(service) -> None:
    generator = random.Random(11)
    service.start()
    service.submit()
    for _ in range(KILLS):
        time.sleep(generator.uniform(0.1, 3.0))
        alive = service.processes()
        if generator.random() < 0.3:
            for number in alive:
                kill(number)
        elif alive:
            kill(generator.choice(alive))
        # Its worker may be what was killed: only a service that is started anew has another.
        time.sleep(generator.uniform(0.0, 0.3))
        kill(service.process.pid)
        service.process.wait(PATIENCE_S)
        service.start()
        if all(state == "done" for state, _, _ in service.rows()):
            break
    deadline_s = time.monotonic() + 4 * PATIENCE_S
    while any(state in ("waiting", "given") for state, _, _ in service.rows()):
        assert time.monotonic() < deadline_s, Counter(row[0] for row in service.rows())
        time.sleep(0.2)
    rows = service.rows()
    assert {state for state, _, _ in rows} == {"done"}
    assert sorted(position for _, position, _ in rows) == list(range(BLOCKS * LEVELS))
    trials = [json.loads(text) for _, _, text in rows]
    assert Counter(trial["variant"] for trial in trials) == {0: BLOCKS, 1: BLOCKS}
    for block in range(BLOCKS):
        assert sorted(t["variant"] for t in trials if t["block"] == block) == [0, 1]
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(PATIENCE_S)
    while service.processes():
        assert time.monotonic() < deadline_s, service.processes()
        time.sleep(0.05)
    assert not list(service.home.glob("data/steelyard/*.service/worker/outbox/*"))
    assert not list(service.home.glob("data/steelyard/*.service/worker/parts/*"))
    assert not list((service.home / "tmp").iterdir())
