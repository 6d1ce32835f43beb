"""What a worker cannot run goes to others: one that is broken, or lies, gives nothing up alone."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import select, update

from steelyard.service.part_attempts import MOST_FAILURES, MOST_LOSSES, WAIT_FOR_OTHERS_S
from steelyard.service.part_queue import lose_silent_workers, next_boot
from steelyard.service.service_schema import attempts, committed_trials, parts
from steelyard.service.workers import MOST_FAULTS, beat, enrol_worker
from tests.unit.service.conftest import give, look, result_of, send, state, worker_named


@pytest.fixture
def shared(sent):
    """Every block may be run by each of four workers at the same levels."""
    with sent.database.writing() as connection:
        more = [
            enrol_worker(connection, sent.account, name, {"cpus": 2}, sent.now_s)[0]
            for name in ("third", "fourth")
        ]
        connection.execute(update(parts).values(substitutes=str([sent.second, *more])))
    sent.others = [sent.second, *more]
    return sent


def fail(made, given, worker=None):
    return send(made, result_of(given, trials=(), failure="no gcc"), worker)


def part_state(made, given):
    return look(made, select(parts.c.state).where(parts.c.id == given.id))[0].state


def test_a_block_that_one_worker_cannot_run_goes_to_another_and_not_back_to_it(shared) -> None:
    given = give(shared)
    fail(shared, given)
    assert give(shared).id != given.id
    other = give(shared, shared.second)
    assert (other.id, other.attempt, other.positions) == (given.id, 1, given.positions)


def test_one_worker_that_fails_with_everything_gives_no_block_up(shared) -> None:
    while (given := give(shared)) is not None:
        fail(shared, given)
    states = [row.state for row in look(shared, select(parts.c.state))]
    assert states == ["waiting"] * 3
    # Nobody has shown yet whose fault it is.
    assert worker_named(shared, "first").faults == 0
    while (given := give(shared, shared.second)) is not None:
        assert send(shared, result_of(given), shared.second).outcome == "committed"
    assert state(shared) == "done"
    assert len(look(shared, select(committed_trials))) == 6
    found = worker_named(shared, "first")
    assert (found.status, found.faults) == ("quarantined", MOST_FAULTS)
    assert "second could run block 0 of the experiment" in found.reason
    assert worker_named(shared, "second").status != "quarantined"


def test_a_block_with_which_several_workers_fail_is_given_up(shared) -> None:
    given = give(shared)
    fail(shared, given)
    for worker in shared.others[: MOST_FAILURES - 1]:
        assert part_state(shared, given) == "waiting"
        again = give(shared, worker)
        assert again.id == given.id
        fail(shared, again, worker)
    assert part_state(shared, given) == "failed"
    # The block is to blame, and no worker for it.
    for name in ("first", "second", "third"):
        assert worker_named(shared, name).faults == 0


def test_two_workers_share_the_attempts_where_there_is_no_third(sent) -> None:
    with sent.database.writing() as connection:
        connection.execute(update(parts).values(substitutes=str([sent.second])))
    given = give(sent)
    fail(sent, given)
    fail(sent, give(sent, sent.second), sent.second)
    assert part_state(sent, given) == "waiting"
    again = give(sent)
    while again.id != given.id:
        assert send(sent, result_of(again)).outcome == "committed"
        again = give(sent)
    fail(sent, again)
    assert part_state(sent, given) == "failed"


def test_a_block_waits_for_another_worker_that_boots_but_not_for_one_that_is_gone(sent) -> None:
    with sent.database.writing() as connection:
        connection.execute(
            update(parts).where(parts.c.block != 2).values(state="done", substitutes="[]")
        )
        connection.execute(update(parts).values(substitutes=str([sent.second])))
    given = give(sent)
    fail(sent, given)
    assert give(sent) is None
    later_s = sent.now_s + WAIT_FOR_OTHERS_S - 1
    assert give(sent, now_s=later_s) is None
    for _ in range(MOST_FAILURES - 1):
        later_s += 2
        again = give(sent, now_s=later_s)
        assert again.id == given.id
        send(sent, result_of(again, trials=(), failure="no gcc"), now_s=later_s)
    assert part_state(sent, given) == "failed"


def test_who_asks_anew_again_and_again_leaves_the_block_to_others(shared) -> None:
    first = give(shared)
    for _ in range(MOST_LOSSES - 1):
        assert give(shared).id == first.id
    assert give(shared).id != first.id
    other = give(shared, shared.second)
    assert other.id == first.id
    assert send(shared, result_of(other), shared.second).outcome == "committed"


def test_a_failure_that_is_sent_again_counts_once(shared) -> None:
    given = give(shared)
    for _ in range(MOST_FAILURES + 1):
        fail(shared, given)
    assert part_state(shared, given) == "waiting"
    assert [row.outcome for row in look(shared, select(attempts))] == ["failed"]


def test_a_worker_that_is_in_quarantine_is_not_waited_for(shared) -> None:
    given = give(shared)
    fail(shared, given)
    for worker in shared.others:
        held = give(shared, worker)
        for _ in range(MOST_FAULTS):
            send(shared, result_of(held or given, trials=()), worker)
    with shared.database.writing() as connection:
        lose_silent_workers(connection, shared.now_s)
        assert next_boot(connection, shared.first, shared.now_s) == ""


@pytest.mark.parametrize("seed", range(4))
def test_a_liar_among_good_workers_costs_no_trial(shared, seed) -> None:
    generator = random.Random(seed)
    liar = generator.choice([shared.first, *shared.others])
    lies = generator.choice([1.0, 0.7])
    for step in range(300):
        now_s = shared.now_s + step
        worker = generator.choice([shared.first, *shared.others])
        with shared.database.writing() as connection:
            beat(connection, worker, "idle", now_s)
            lose_silent_workers(connection, now_s)
        given = give(shared, worker, now_s)
        if given is None:
            continue
        if worker == liar and generator.random() < lies:
            result = result_of(given, trials=(), failure="it is not my day")
        else:
            result = result_of(given)
        send(shared, result, worker, now_s)
        if state(shared) == "done":
            break
    assert state(shared) == "done"
    positions = sorted(row.position for row in look(shared, select(committed_trials)))
    assert positions == list(range(6))
