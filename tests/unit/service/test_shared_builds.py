"""One worker makes a build for its platform; whoever is lost or fails, nobody waits for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.core.errors import UsageError
from steelyard.service.part_queue import next_part
from steelyard.service.shared_builds import (
    ASKING_LIMIT_S,
    BuildPlace,
    forget_longest_unused,
    give_builds,
    keep_build,
    keep_unshared,
    submission_of_held,
    want_build,
)
from steelyard.service.workers import HEARTBEAT_LIMIT_S, beat
from tests.unit.service.conftest import give, worker_named

KEY = "0" * 32


@pytest.fixture
def places(sent):
    """What the first worker asks for, and what the second does, each with a part."""
    given = give(sent)
    with sent.database.writing() as connection:
        number = submission_of_held(connection, sent.first, given.id, given.attempt)
    first = BuildPlace("p", KEY, sent.first, given.id, given.attempt, number)
    return first, replace(first, worker_id=sent.second)


def wants(made, place, now_s=1000.0):
    with made.database.writing() as connection:
        return want_build(connection, place, now_s)


def test_the_first_makes_a_build_and_the_others_wait_and_fetch_it(sent, places) -> None:
    first, second = places
    assert wants(sent, first).doing == "make"
    assert (wants(sent, second).doing, wants(sent, second).worker) == ("wait", "first")
    assert wants(sent, replace(second, platform="q")).doing == "make"
    with sent.database.writing() as connection:
        keep_build(connection, first, "d", 7, 1000.0)
    told = wants(sent, second)
    assert (told.doing, told.worker, told.digest, told.size_bytes) == ("fetch", "first", "d", 7)


def test_a_worker_that_is_gone_makes_no_build(sent, places) -> None:
    first, second = places
    assert wants(sent, first).doing == "make"
    late_s = 1001.0 + HEARTBEAT_LIMIT_S
    assert wants(sent, second, late_s).doing == "make"
    with sent.database.writing() as connection:
        beat(connection, sent.second, "running", late_s)
        beat(connection, sent.first, "running", late_s)
        with pytest.raises(UsageError, match="was not asked"):
            keep_unshared(connection, first, "own", "why")
    assert wants(sent, first, late_s).worker == "second"


def test_a_worker_that_has_begun_something_else_makes_no_build(sent, places) -> None:
    first, second = places
    assert wants(sent, first).doing == "make"
    with sent.database.writing() as connection:
        assert next_part(connection, sent.first, 1000.0) is not None
    assert wants(sent, second).doing == "make"
    with sent.database.writing() as connection, pytest.raises(UsageError, match="No such part"):
        submission_of_held(connection, first.worker_id, first.part_id, first.attempt)


def test_a_build_host_makes_builds_unless_it_is_gone_or_does_not_send_them(sent, places) -> None:
    first, _ = places
    host = worker_named(sent, "second")

    def asks(key, now_s=1000.0):
        with sent.database.writing() as connection:
            return want_build(connection, replace(first, key=key * 32), now_s, host)

    def given():
        with sent.database.writing() as connection:
            return give_builds(connection, sent.second)

    assert given() is None
    assert (asks("1").doing, asks("1").worker) == ("wait", "second")
    assert asks("1", 1001.0 + ASKING_LIMIT_S).doing == "make"
    assert given() is None
    assert (asks("2").doing, asks("3").doing) == ("wait", "wait")
    found = given()
    assert (found.part_id, found.attempt, found.file) == (first.part_id, first.attempt, "file")
    made = replace(first, key="2" * 32, worker_id=sent.second)
    with sent.database.writing() as connection:
        held = submission_of_held(connection, sent.second, first.part_id, first.attempt)
        assert held == first.submission_id
        keep_build(connection, made, "d", 7, 1000.0)
    # It asks for more without having sent the other.
    assert given() is None
    assert (asks("2").doing, asks("3").doing) == ("fetch", "own")
    assert "did not send" in asks("3").message


@pytest.mark.parametrize("state", ["failed", "own"])
def test_what_is_not_shared_is_told_once_to_its_experiment_alone(sent, places, state) -> None:
    first, second = places
    assert wants(sent, first).doing == "make"
    with sent.database.writing() as connection:
        keep_unshared(connection, first, state, "why")
    told = wants(sent, second)
    assert (told.doing, told.worker, told.message) == (state, "first", "why")
    assert wants(sent, replace(second, submission_id=99)).doing == "make"


def test_the_builds_that_were_unused_longest_go_first(sent, places) -> None:
    first, _ = places
    with sent.database.writing() as connection:
        for number, digest in enumerate("abca"):
            place = replace(first, key=str(number) * 32)
            assert want_build(connection, place, 1000.0).doing == "make"
            keep_build(connection, place, digest, 10, 1000.0 + number)
        # The bytes of `a` are those of another build too.
        assert list(forget_longest_unused(connection, 20)) == ["b"]
        assert want_build(connection, replace(first, key="2" * 32), 1001.0).doing == "fetch"
