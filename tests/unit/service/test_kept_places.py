"""The audit of the benchmark that kills a service: it sees what is missing, twice or at odds."""

from __future__ import annotations

import pytest
from sqlalchemy import text, update

from benchmarks.service_kills.kept_places import audited, progress
from steelyard.service.service_schema import parts
from tests.unit.service.test_parts_and_commits import give, result_of, send


@pytest.fixture(params=["postgresql"])
def address(request, tmp_path):
    """Its questions are PostgreSQL's."""
    from tests.postgresql import fresh_database

    with fresh_database(request.getfixturevalue("postgresql"), tmp_path.name[-20:]) as found:
        yield found


def wrong(address) -> dict[str, int]:
    """Questions whose count is not 0."""
    return {name: count for name, count in audited(address, 6, 2).wrong.items() if count}


def change(made, *statements: str) -> None:
    with made.database.writing() as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_it_counts_what_is_missing_and_what_is_at_odds(sent, address) -> None:
    found = wrong(address)
    assert found["places that are planned and not committed"] == 6
    assert found["parts that did not end"] == 3
    assert found["experiments that did not end"] == 1
    assert progress(address) == (0, 3)
    for _ in range(3):
        assert send(sent, result_of(give(sent))).outcome == "committed"
    assert wrong(address) == {}
    assert progress(address) == (3, 3)
    change(sent, "UPDATE committed_trials SET position = 9 WHERE position = 0")
    found = wrong(address)
    assert found["places that are planned and not committed"] == 1
    assert found["places that are committed and not planned"] == 1
    assert found["places whose row and whose trial disagree"] == 1
    assert found["trials of another part than their place is in"] == 1
    change(
        sent,
        "UPDATE submissions SET committed_count = 5",
        "UPDATE committed_trials SET position = 0 WHERE position = 9",
        "UPDATE committed_trials SET trial = replace(trial, '\"variant\": 0', '\"variant\": 1')",
        "UPDATE attempts SET outcome = 'given' WHERE id = (SELECT min(id) FROM attempts)",
    )
    found = wrong(address)
    assert found["experiments whose count is not that of their trials"] == 1
    assert found["blocks in which a level is more often than another"] == 3
    assert found["attempts that did not end"] == 1
    assert found["parts without exactly one attempt that was committed"] == 1
    with sent.database.writing() as connection:
        connection.execute(update(parts).where(parts.c.block == 0).values(positions="[2, 3]"))
    assert wrong(address)["places that no part has, or two have"] == 4
