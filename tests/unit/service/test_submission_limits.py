"""Experiments end at their limits, and what was measured by then stays."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from steelyard.allocation.hosts_asked import read_hosts_asked
from steelyard.core.errors import UsageError
from steelyard.service.service_schema import committed_trials, submissions
from steelyard.service.submission_limits import cost_s, end_exceeded
from tests.unit.service.conftest import IDENTIFIER
from tests.unit.service.test_parts_and_commits import give, look, result_of, send


def limit(made, **limits) -> None:
    with made.database.writing() as connection:
        connection.execute(update(submissions).values(limits))


def ended(made, now_s) -> list[str]:
    with made.database.writing() as connection:
        return end_exceeded(connection, now_s)


def state(made) -> tuple[str, str]:
    return tuple(look(made, select(submissions.c.state, submissions.c.stopped))[0])


def test_an_experiment_without_limits_goes_on(sent) -> None:
    assert ended(sent, 1e9) == []
    assert state(sent) == ("queued", "")


def test_it_ends_when_it_has_taken_too_long_and_what_runs_is_kept(sent) -> None:
    limit(sent, time_limit_s=100.0)
    given = give(sent)
    assert ended(sent, 1100.0) == []
    assert ended(sent, 500.0) == []
    assert ended(sent, 1101.0) == [IDENTIFIER]
    assert state(sent) == ("done", "time limit")
    assert send(sent, result_of(given), now_s=1102.0).outcome == "committed"
    assert give(sent, now_s=1103.0) is None
    assert ended(sent, 1104.0) == []
    assert len(look(sent, select(committed_trials))) == 2


def test_it_ends_when_workers_were_busy_with_it_for_too_long_in_all(sent) -> None:
    limit(sent, cost_limit_s=50.0)
    given = give(sent, now_s=1000.0)
    assert send(sent, result_of(given), now_s=1030.0).outcome == "committed"
    give(sent, now_s=1040.0)
    with sent.database.reading() as connection:
        number = connection.execute(select(submissions.c.id)).scalar_one()
        assert cost_s(connection, number, 1055.0) == pytest.approx(45.0)
        assert cost_s(connection, number, 0.0) == pytest.approx(30.0)
    assert ended(sent, 1055.0) == []
    assert ended(sent, 1061.0) == [IDENTIFIER]
    assert state(sent) == ("done", "cost limit")


def test_limits_are_times() -> None:
    asked = read_hosts_asked({"time_limit": "2h", "cost_limit": "30min"})
    assert (asked.time_limit_s, asked.cost_limit_s) == (7200.0, 1800.0)
    with pytest.raises(UsageError, match="time_limit"):
        read_hosts_asked({"time_limit": "soon"})
