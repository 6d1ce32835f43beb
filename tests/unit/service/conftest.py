"""A service's database with an account, workers, and an experiment of three blocks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pytest

from steelyard.core.experiment_results import Trial
from steelyard.service.accounts import add_account
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.submissions import NewPart, NewSubmission, add_submission
from steelyard.service.workers import enrol_worker
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
