"""What a worker cannot run goes to others: one that is broken, or lies, gives nothing up alone."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import select, update

from steelyard.service.part_attempts import MOST_FAILURES, MOST_LOSSES, WAIT_FOR_OTHERS_S
from steelyard.service.part_queue import lose_silent_workers, next_boot
from steelyard.service.service_schema import attempts, committed_trials, parts
from steelyard.service.submissions import NewPart, NewSubmission, add_submission
from steelyard.service.workers import (
    BLOCKS_FOR_A_PROVEN_FAULT,
    HEARTBEAT_LIMIT_S,
    MOST_FAULTS,
    beat,
    enrol_worker,
)
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


@pytest.fixture
def long(sent):
    """An experiment of sixty blocks more, for the first worker."""
    blocks = range(3, 63)
    more = [NewPart(block, sent.first, block, (2 * block, 2 * block + 1), ()) for block in blocks]
    row = NewSubmission("long", sent.account, "n", "private", "f", "{}", "p", 120, 0, 1000.0)
    with sent.database.writing() as connection:
        add_submission(connection, row, more)
    return sent


def cannot_be(given):
    return result_of(given, trials=())


def test_a_liar_that_sends_a_good_result_between_two_false_ones_is_set_aside(long) -> None:
    sent = 0
    while (given := give(long)) is not None:
        assert send(long, cannot_be(given)).outcome == "refused"
        assert send(long, result_of(given)).outcome in ("committed", "refused")
        sent += 1
    assert sent == MOST_FAULTS
    assert worker_named(long, "first").status == "quarantined"


def test_a_rare_fault_is_forgotten(long) -> None:
    sent = 0
    while (given := give(long)) is not None:
        if sent % BLOCKS_FOR_A_PROVEN_FAULT == 0:
            assert send(long, cannot_be(given)).outcome == "refused"
        assert send(long, result_of(given)).outcome == "committed"
        sent += 1
    assert sent == 63
    assert worker_named(long, "first").status != "quarantined"


def lose(made, worker):
    """Lose a worker with what it has, and let it come back."""
    with made.database.writing() as connection:
        beat(connection, worker, "running", made.now_s)
    made.now_s += HEARTBEAT_LIMIT_S + 1
    with made.database.writing() as connection:
        for other in {made.first, *made.others} - {worker}:
            beat(connection, other, "idle", made.now_s)
        lose_silent_workers(connection, made.now_s)
        beat(connection, worker, "idle", made.now_s)


def test_an_experiment_that_kills_every_host_sets_none_aside(shared) -> None:
    hosts = [shared.first, *shared.others]
    for _ in range(5):
        for host in hosts:
            if give(shared, host) is not None:
                lose(shared, host)
    lost = [row.worker_id for row in look(shared, select(attempts)) if row.outcome == "lost"]
    assert (len(lost), set(lost)) == (17, set(hosts))
    for name in ("first", "second", "third", "fourth"):
        found = worker_named(shared, name)
        assert (name, found.status) == (name, "idle")
        assert found.faults < MOST_FAULTS


def test_a_host_that_alone_is_lost_again_and_again_is_set_aside(shared) -> None:
    for _ in range(MOST_FAULTS):
        assert give(shared) is not None
        lose(shared, shared.first)
    assert worker_named(shared, "first").status == "quarantined"


def test_a_host_is_blamed_for_a_block_that_it_lost_and_another_could_run(shared) -> None:
    given = give(shared)
    for _ in range(MOST_LOSSES):
        assert give(shared, shared.second) is None
        lose(shared, shared.first)
        last = give(shared)
    assert last.id != given.id
    before = worker_named(shared, "first").faults
    other = give(shared, shared.second)
    assert other.id == given.id
    assert send(shared, result_of(other), shared.second).outcome == "committed"
    assert worker_named(shared, "first").faults == before + 1
