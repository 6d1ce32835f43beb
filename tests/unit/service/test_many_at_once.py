"""Several workers and a clock that takes them for lost, all at once, on a real database."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from steelyard.service.part_attempts import WAIT_FOR_OTHERS_S
from steelyard.service.part_queue import lose_silent_workers, next_part
from steelyard.service.submissions import (
    NewPart,
    NewSubmission,
    add_submission,
    cancel_submission,
    find_submission,
)
from steelyard.service.trial_commits import SentResult, commit_result, count_committed
from steelyard.service.workers import (
    HEARTBEAT_LIMIT_S,
    beat,
    enrol_worker,
    hold_workers,
    release_worker,
)
from tests.patience import PATIENCE_S
from tests.unit.service.conftest import IDENTIFIER, trial

WORKERS, BLOCKS, SIZE = 4, 48, 2

# Shares no code with the service: what was planned beside what was committed.
AUDIT = """
SELECT p.block, p.state, count(t.position) AS trials, count(DISTINCT t.position) AS places,
       count(DISTINCT t.attempt) AS attempts, count(DISTINCT t.worker_id) AS hosts,
       (SELECT count(*) FROM attempts a WHERE a.part_id = p.id AND a.outcome = 'committed') AS taken
FROM parts p LEFT JOIN committed_trials t ON t.part_id = p.id
GROUP BY p.id, p.block, p.state ORDER BY p.block
"""

COUNTED = "SELECT committed_count FROM submissions"
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
MISCOUNTED = """
SELECT s.id FROM submissions s WHERE s.committed_count <> (
SELECT count(*) FROM committed_trials c WHERE c.submission_id = s.id AND c.position >= 0)
"""
LEFT = "SELECT count(*) FROM parts WHERE state IN ('waiting', 'given')"


def filled(made) -> list[int]:
    with made.database.writing() as connection:
        numbers = [
            enrol_worker(connection, made.account, f"w{index}", {}, 1000.0)[0]
            for index in range(WORKERS)
        ]
        row = NewSubmission(
            IDENTIFIER, made.account, "n", "private", "f", "{}", "p", BLOCKS * SIZE, 0, 1000.0
        )
        parts = [
            NewPart(
                block,
                numbers[block % WORKERS],
                block,
                tuple(range(block * SIZE, (block + 1) * SIZE)),
                tuple(numbers),
            )
            for block in range(BLOCKS)
        ]
        add_submission(connection, row, parts)
    return numbers


def work(made, worker: int, seed: int) -> None:
    """Ask and send until nothing is left; some results twice, some late, some never."""
    generator = random.Random(seed)
    held: list[SentResult] = []
    now_s = 1000.0
    for _ in range(4 * BLOCKS):
        now_s += generator.choice([1.0, HEARTBEAT_LIMIT_S / 2])
        with made.database.writing() as connection:
            beat(connection, worker, "running", now_s)
            release_worker(connection, f"w{worker}")
            given = next_part(connection, worker, now_s)
            left = connection.exec_driver_sql(LEFT).scalar_one()
        if given is None and not left:
            break
        if given is None:
            # Others may be asked first, as long as they are there.
            now_s += WAIT_FOR_OTHERS_S
            continue
        trials = tuple(trial(position, position // SIZE) for position in given.positions)
        held.append(SentResult(given.id, given.attempt, given.experiment, trials, {}))
        for sent in generator.choices(held, k=generator.choice([1, 1, 2])) + held[-1:]:
            with made.database.writing() as connection:
                if commit_result(connection, worker, sent, now_s).outcome == "committed":
                    count_committed(connection, sent)
        if generator.random() < 0.1:
            with made.database.writing() as connection:
                lose_silent_workers(connection, now_s)


def test_whatever_happens_at_once_every_place_that_is_done_is_there_once(made) -> None:
    numbers = filled(made)
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(work, made, number, number) for number in numbers]:
            done.result()
    with made.database.reading() as connection:
        rows = connection.exec_driver_sql(AUDIT).all()
        counted = connection.exec_driver_sql(COUNTED).scalar_one()
    assert [row.block for row in rows] == list(range(BLOCKS))
    for row in rows:
        assert row.state in ("done", "failed")
        of_block = (SIZE, SIZE, 1, 1, 1) if row.state == "done" else (0, 0, 0, 0, 0)
        assert (row.trials, row.places, row.attempts, row.hosts, row.taken) == of_block
    assert sum(row.state == "done" for row in rows) > BLOCKS / 2
    assert counted == sum(row.trials for row in rows)


def test_an_experiment_whose_last_two_blocks_end_at_once_has_ended(made) -> None:
    """Each of two transactions sees the block of the other as it was before both."""
    hosts = made.first, made.second
    blocks = [NewPart(block, hosts[block], 0, (2 * block, 2 * block + 1)) for block in (0, 1)]
    row = NewSubmission(IDENTIFIER, made.account, "n", "private", "f", "{}", "p", 4, 0, 1000.0)
    with made.database.writing() as connection:
        add_submission(connection, row, blocks)
        given = [next_part(connection, host, 1000.0) for host in hosts]

    def commits(connection, index):
        trials = tuple(trial(position, index) for position in given[index].positions)
        sent = SentResult(given[index].id, 0, IDENTIFIER, trials, {})
        assert commit_result(connection, hosts[index], sent, 1001.0).outcome == "committed"
        count_committed(connection, sent)

    def other():
        with made.database.writing() as connection:
            commits(connection, 1)

    with ThreadPoolExecutor(1) as pool:
        with made.database.writing() as connection:
            commits(connection, 0)
            second = pool.submit(other)
            wait([second], timeout=0.3)
        second.result()
    with made.database.writing() as connection:
        lose_silent_workers(connection, 1002.0)
        found = find_submission(connection, IDENTIFIER)
        assert (found.state, found.committed_count) == ("done", 4)


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_who_sends_an_experiment_waits_for_no_worker_that_another_holds(made) -> None:
    row = NewSubmission(IDENTIFIER, made.account, "n", "private", "f", "{}", "p", 2, 0, 1000.0)

    def send() -> int:
        with made.database.writing() as connection:
            return add_submission(connection, row, [NewPart(0, made.first, 0, (0, 1))])

    with ThreadPoolExecutor(1) as pool, made.database.writing() as connection:
        hold_workers(connection, {made.first})
        assert pool.submit(send).result(PATIENCE_S) == 1


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_people_who_send_and_workers_that_fail_wait_for_nobody_in_a_circle(made) -> None:
    hosts = filled(made)

    def send(seed: int) -> None:
        generator = random.Random(seed)
        for number in range(25):
            named = f"{IDENTIFIER[:-3]}{seed}{number:02d}"
            row = NewSubmission(named, made.account, "n", "private", "f", "{}", "p", 16, 0, 1000.0)
            order = generator.sample(hosts, len(hosts))
            blocks = [
                NewPart(block, order[block % WORKERS], block, (2 * block, 2 * block + 1), (*order,))
                for block in range(8)
            ]
            with made.database.writing() as connection:
                add_submission(connection, row, blocks)
            if generator.random() < 0.3:
                with made.database.writing() as connection:
                    found = find_submission(connection, named)
                    assert found is not None
                    cancel_submission(connection, found.id)

    def run(worker: int) -> None:
        generator = random.Random(worker)
        for _ in range(60):
            with made.database.writing() as connection:
                hold_workers(connection, {worker})
                lose_silent_workers(connection, 1000.0)
                release_worker(connection, f"w{hosts.index(worker)}")
                given = next_part(connection, worker, 1000.0)
            if given is None:
                continue
            result = SentResult(given.id, given.attempt, given.experiment, (), {}, "it broke")
            if generator.random() < 0.7:
                trials = tuple(
                    trial(each, each // SIZE, started_unix_s=generator.random())
                    for each in given.positions
                )
                result = SentResult(given.id, given.attempt, given.experiment, trials, {})
            with made.database.writing() as connection:
                if commit_result(connection, worker, result, 1000.0).outcome == "committed":
                    count_committed(connection, result)

    with ThreadPoolExecutor(WORKERS + 2) as pool:
        for done in [pool.submit(run, each) for each in hosts] + [
            pool.submit(send, seed) for seed in (1, 2)
        ]:
            done.result()
    with made.database.reading() as connection:
        assert connection.exec_driver_sql(DEADLOCKS).scalar_one() == 0
        assert connection.exec_driver_sql(MISCOUNTED).all() == []
