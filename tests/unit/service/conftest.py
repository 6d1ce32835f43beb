"""A service's database with an account, workers, and an experiment of three blocks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pytest
from sqlalchemy import select

from steelyard.core.experiment_results import Trial
from steelyard.service.accounts import add_account
from steelyard.service.part_queue import next_part
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.service_schema import submissions
from steelyard.service.submissions import NewPart, NewSubmission, add_submission
from steelyard.service.trial_commits import SentResult, commit_result, count_committed
from steelyard.service.workers import all_workers, enrol_worker
from tests.postgresql import cluster, fresh_database

IDENTIFIER = "01M85SC0VHQM52GC8EDA4C9YQW"


def trial(position: int, block: int, **fields) -> Trial:
    values = {
        "variant": position % 2,
        "warmup": position < 0,
        "status": "ok",
        "reason": None,
        "started_unix_s": 100.0 + position,
        "spent_s": 0.1,
        "measurements": {"wall_time": (0.1,)},
    }
    return Trial(position=position, block=block, **{**values, **fields})


@dataclass
class Made:
    """What the tests use by name."""

    database: ServiceDatabase
    account: int
    first: int
    second: int
    now_s: float = 1000.0


@pytest.fixture(scope="session")
def postgresql():
    with cluster() as directory:
        yield directory


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """A database of each kind that a service may have."""
    if request.param == "sqlite":
        yield str(tmp_path / "service.sqlite")
        return
    name = hashlib.sha256(str(tmp_path).encode()).hexdigest()[:16]
    with fresh_database(request.getfixturevalue("postgresql"), name) as found:
        yield found


@pytest.fixture
def made(address):
    database = ServiceDatabase(address)
    with database.writing() as connection:
        account = add_account(connection, "ada", "member", 1000.0)
        first, _ = enrol_worker(connection, account, "first", {"cpus": 2}, 1000.0)
        second, _ = enrol_worker(connection, account, "second", {"cpus": 2}, 1000.0)
    yield Made(database, account, first, second)
    database.close()


@pytest.fixture
def sent(made):
    """Three blocks of two trials for the first worker; the second may stand in for block 0."""
    parts = [
        NewPart(block, made.first, 10 - block, (2 * block, 2 * block + 1), stand_in)
        for block, stand_in in ((0, (made.second,)), (1, ()), (2, ()))
    ]
    row = NewSubmission(
        IDENTIFIER, made.account, "name", "private", "file", "{}", "plan", 6, 0, 1000.0
    )
    with made.database.writing() as connection:
        add_submission(connection, row, parts)
    return made


def give(made, worker=None, now_s=None):
    with made.database.writing() as connection:
        return next_part(connection, worker or made.first, now_s or made.now_s)


def result_of(given, **changes):
    block = given.positions[0] // 2
    trials = tuple(trial(position, block) for position in given.positions)
    fields = {"trials": trials, "provenance": {}, "failure": "", **changes}
    return SentResult(
        fields.pop("part_id", given.id),
        fields.pop("attempt", given.attempt),
        fields.pop("experiment", given.experiment),
        **fields,
    )


def send(made, result, worker=None, now_s=None):
    with made.database.writing() as connection:
        taken = commit_result(connection, worker or made.first, result, now_s or made.now_s)
        if taken.outcome == "committed":
            count_committed(connection, result)
        return taken


def look(made, statement):
    with made.database.reading() as connection:
        return connection.execute(statement).all()


def worker_named(made, name):
    with made.database.reading() as connection:
        return next(each for each in all_workers(connection) if each.name == name)


def state(made):
    return look(made, select(submissions.c.state))[0].state
