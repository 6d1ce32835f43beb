"""Parts are given out until they are done; each place is committed once, whatever comes."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import func, select, text, update

from steelyard.service.part_attempts import MOST_ATTEMPTS, MOST_FAILURES
from steelyard.service.part_queue import lose_silent_workers
from steelyard.service.service_schema import attempts, committed_trials, parts
from steelyard.service.submissions import cancel_submission
from steelyard.service.workers import (
    HEARTBEAT_LIMIT_S,
    MOST_FAULTS,
    beat,
    enrol_worker,
    release_worker,
)
from tests.unit.service.conftest import (
    IDENTIFIER,
    give,
    look,
    result_of,
    send,
    state,
    trial,
    worker_named,
)


def test_parts_come_in_the_order_that_was_drawn_and_the_experiment_ends_with_the_last(sent) -> None:
    blocks = []
    assert state(sent) == "queued"
    while (given := give(sent)) is not None:
        assert state(sent) == "running"
        blocks.append(given.positions[0] // 2)
        assert send(sent, result_of(given)).outcome == "committed"
    assert blocks == [2, 1, 0]
    assert state(sent) == "done"
    assert sorted(row.position for row in look(sent, select(committed_trials))) == list(range(6))


def test_what_is_sent_twice_is_committed_once(sent) -> None:
    given = give(sent)
    assert send(sent, result_of(given)).outcome == "committed"
    assert send(sent, result_of(given)).outcome == "twice"
    assert len(look(sent, select(committed_trials))) == 2
    assert worker_named(sent, "first").faults == 0


def test_a_worker_that_was_taken_for_lost_may_still_be_first(sent) -> None:
    lost = give(sent)
    again = give(sent)  # It asks anew without a result: the first attempt is lost.
    assert (again.id, again.attempt) == (lost.id, 1)
    assert send(sent, result_of(lost)).outcome == "committed"
    assert send(sent, result_of(again)).outcome == "late"
    outcomes = {row.attempt: row.outcome for row in look(sent, select(attempts))}
    assert outcomes == {0: "committed", 1: "late"}
    assert {row.attempt for row in look(sent, select(committed_trials))} == {0}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"part_id": 99}, "no such part"),
        ({"attempt": 7}, "no such part"),
        ({"experiment": "01M85SC0VHQM52GC8EDA4C9YQX"}, "belongs to"),
        ({"trials": (trial(4, 2),)}, "not those of the part"),
        ({"trials": (trial(4, 2), trial(4, 2))}, "not those of the part"),
        ({"trials": (trial(0, 0), trial(1, 0))}, "not those of the part"),
        ({"trials": (trial(4, 1), trial(5, 1))}, "not of the part's block"),
        ({"failure": "broken"}, "has no trials"),
    ],
)
def test_a_result_that_cannot_be_is_refused_and_counts_as_a_fault(sent, changes, why) -> None:
    given = give(sent)
    taken = send(sent, result_of(given, **changes))
    assert taken.outcome == "refused"
    assert why in taken.message
    assert look(sent, select(committed_trials)) == []
    assert worker_named(sent, "first").faults == 1
    assert send(sent, result_of(given)).outcome == "committed"
    assert worker_named(sent, "first").faults == 0


def moved(result, given):
    """The same numbers, as if they were of another part."""
    places = zip(result.trials, given.positions, strict=True)
    trials = tuple(
        replace(each, position=place, block=given.positions[0] // 2, variant=place % 2)
        for each, place in places
    )
    return result_of(given, trials=trials)


@pytest.mark.parametrize("copier", ["first", "second"])
def test_numbers_of_another_block_are_refused_whoever_measured_them(sent, copier) -> None:
    committed = result_of(give(sent))
    assert send(sent, committed).outcome == "committed"
    with sent.database.writing() as connection:
        connection.execute(update(parts).values(worker_id=getattr(sent, copier)))
    given = give(sent, getattr(sent, copier))
    copied = moved(committed, given)
    for trials in (copied.trials, copied.trials[::-1]):
        taken = send(sent, result_of(given, trials=trials), getattr(sent, copier))
        assert taken.outcome == "refused"
        assert taken.message == f"its numbers are those of block 2 of the experiment {IDENTIFIER}"
    assert worker_named(sent, copier).faults == 2
    assert len(look(sent, select(committed_trials))) == 2
    assert send(sent, result_of(given), getattr(sent, copier)).outcome == "committed"


def test_one_copied_number_among_new_ones_is_enough(sent) -> None:
    committed = result_of(give(sent))
    assert send(sent, committed).outcome == "committed"
    given = give(sent)
    own = result_of(given).trials
    copied = moved(committed, given).trials
    for trials in ((own[0], copied[1]), (copied[0], own[1])):
        taken = send(sent, result_of(given, trials=trials))
        assert taken.message == f"its numbers are those of block 2 of the experiment {IDENTIFIER}"
    assert send(sent, result_of(given)).outcome == "committed"


def test_one_measurement_does_not_stand_for_two_trials(sent) -> None:
    given = give(sent)
    first, second = result_of(given).trials
    twice = replace(second, started_unix_s=first.started_unix_s)
    taken = send(sent, result_of(given, trials=(first, twice)))
    assert taken.message == "its numbers are those of two of its own trials"
    assert send(sent, result_of(given)).outcome == "committed"


def test_what_a_worker_in_quarantine_was_given_goes_to_another(sent) -> None:
    given = give(sent)
    while given.positions != (0, 1):
        assert send(sent, result_of(given)).outcome == "committed"
        given = give(sent)
    for _ in range(MOST_FAULTS):
        send(sent, result_of(given, trials=()))
    assert give(sent, sent.second) is None
    with sent.database.writing() as connection:
        assert lose_silent_workers(connection, sent.now_s) == []
    stand_in = give(sent, sent.second)
    assert (stand_in.id, stand_in.attempt) == (given.id, given.attempt + 1)


def test_blocks_in_which_nothing_could_be_measured_may_be_alike(sent) -> None:
    for _ in range(2):
        given = give(sent)
        failed = {"status": "failed", "reason": "spawn", "measurements": {}, "started_unix_s": 1.0}
        block = given.positions[0] // 2
        trials = tuple(trial(position, block, **failed) for position in given.positions)
        assert send(sent, result_of(given, trials=trials)).outcome == "committed"


def test_a_worker_cannot_send_what_was_given_to_another(sent) -> None:
    given = give(sent)
    assert send(sent, result_of(given), sent.second).outcome == "refused"
    assert worker_named(sent, "second").faults == 1
    assert worker_named(sent, "first").faults == 0


def test_after_repeated_faults_a_worker_gets_nothing_until_someone_releases_it(sent) -> None:
    given = give(sent)
    for _ in range(MOST_FAULTS):
        send(sent, result_of(given, trials=()))
    found = worker_named(sent, "first")
    assert (found.status, bool(found.reason)) == ("quarantined", True)
    assert give(sent) is None
    with sent.database.writing() as connection:
        beat(connection, sent.first, "idle", 1001.0)
    assert worker_named(sent, "first").status == "quarantined"
    with sent.database.writing() as connection:
        assert release_worker(connection, "first")
    assert give(sent) is not None


def test_the_parts_of_a_silent_worker_go_to_one_that_gives_the_same_levels(sent) -> None:
    given = give(sent)
    later_s = sent.now_s + HEARTBEAT_LIMIT_S + 1
    with sent.database.writing() as connection:
        beat(connection, sent.second, "idle", later_s)
        assert lose_silent_workers(connection, later_s) == ["first"]
        assert lose_silent_workers(connection, later_s) == []
    stand_in = give(sent, sent.second, later_s)
    assert stand_in.positions == (0, 1)
    assert send(sent, result_of(stand_in), sent.second).outcome == "committed"
    assert give(sent, sent.second, later_s) is None
    with sent.database.writing() as connection:
        beat(connection, sent.first, "idle", later_s)
    assert give(sent, now_s=later_s).id == given.id


def test_a_part_that_cannot_be_run_is_given_up_after_some_attempts(sent) -> None:
    for attempt in range(MOST_FAILURES):
        given = give(sent)
        assert given.attempt == attempt
        assert send(sent, result_of(given, trials=(), failure="no gcc")).outcome == "failed"
    assert give(sent).positions != given.positions
    states = Counter(row.state for row in look(sent, select(parts.c.state)))
    assert states == {"failed": 1, "given": 1, "waiting": 1}


def test_losses_do_not_give_a_part_up_before_they_are_many(sent) -> None:
    first = give(sent)
    for _ in range(MOST_ATTEMPTS - 1):
        given = give(sent)
    assert (given.id, given.attempt) == (first.id, MOST_ATTEMPTS - 1)
    assert worker_named(sent, "first").faults == 0
    assert send(sent, result_of(given)).outcome == "committed"


def test_a_clock_that_is_set_back_hides_no_silent_worker(sent) -> None:
    give(sent)
    hour_s = 3600.0
    with sent.database.writing() as connection:
        assert lose_silent_workers(connection, sent.now_s - hour_s) == []
        later_s = sent.now_s - hour_s + HEARTBEAT_LIMIT_S + 1
        assert "first" in lose_silent_workers(connection, later_s)


def test_warm_ups_are_kept_and_not_counted_as_progress(sent) -> None:
    from steelyard.service.submissions import find_submission

    with sent.database.writing() as connection:
        chosen = parts.c.block == 2
        connection.execute(update(parts).where(chosen).values(positions="[-1, -2, 4, 5]"))
    given = give(sent)
    trials = tuple(trial(position, -1 if position < 0 else 2) for position in given.positions)
    assert send(sent, result_of(given, trials=trials)).outcome == "committed"
    assert len(look(sent, select(committed_trials))) == 4
    with sent.database.reading() as connection:
        assert find_submission(connection, IDENTIFIER).committed_count == 2


def test_nothing_more_of_a_cancelled_experiment_is_given_but_what_runs_is_kept(sent) -> None:
    given = give(sent)
    with sent.database.writing() as connection:
        assert cancel_submission(connection, 1)
        assert not cancel_submission(connection, 1)
    assert send(sent, result_of(given)).outcome == "committed"
    assert give(sent) is None
    assert state(sent) == "cancelled"


def test_the_database_itself_refuses_a_place_twice(sent) -> None:
    given = give(sent)
    send(sent, result_of(given))
    row = look(sent, select(committed_trials))[0]
    from sqlalchemy import insert

    from steelyard.core.errors import StoreError

    with pytest.raises(StoreError), sent.database.writing() as connection:
        connection.execute(insert(committed_trials).values(**row._mapping))


@pytest.mark.parametrize("seed", range(5))
def test_whatever_order_results_losses_and_repeats_come_in_each_place_is_there_once(
    sent, seed
) -> None:
    generator = random.Random(seed)
    held = []
    now_s = sent.now_s
    for _ in range(400):
        now_s += generator.choice([0.1, 1.0, HEARTBEAT_LIMIT_S])
        with sent.database.writing() as connection:
            lose_silent_workers(connection, now_s)
            beat(connection, sent.first, "running", now_s)
        worker = generator.choice([sent.first, sent.second])
        if generator.random() < 0.5:
            given = give(sent, worker, now_s)
            held += [(worker, given)] if given is not None else []
        elif held:
            worker, given = generator.choice(held)
            send(sent, result_of(given), worker, now_s)
        if worker_named(sent, "first").status == "quarantined":
            with sent.database.writing() as connection:
                release_worker(connection, "first")
    told = look(
        sent,
        select(committed_trials.c.position, func.count()).group_by(committed_trials.c.position),
    )
    assert all(count == 1 for _, count in told)
    done = look(sent, select(parts).where(parts.c.state == "done"))
    assert len(told) == 2 * len(done)
    assert look(sent, text("SELECT count(*) AS n FROM attempts WHERE outcome='committed'"))[
        0
    ].n == len(done)


def test_enrolling_again_gives_a_new_token_and_another_account_cannot(made) -> None:
    from steelyard.core.errors import UsageError
    from steelyard.service.accounts import add_account
    from steelyard.service.workers import worker_of

    with made.database.writing() as connection:
        number, token = enrol_worker(connection, made.account, "first", {"cpus": 4}, 1001.0)
        assert number == made.first
        assert worker_of(connection, token).facts == {"cpus": 4}
        other = add_account(connection, "eve", "operator", 1.0)
        with pytest.raises(UsageError, match="Another account"):
            enrol_worker(connection, other, "first", {}, 1002.0)
        assert worker_of(connection, "steelyard_wrong") is None


def test_an_identifier_is_that_of_the_experiment(sent) -> None:
    assert give(sent).experiment == IDENTIFIER
