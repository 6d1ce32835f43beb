"""Calls take turns in the order in which they come, and one that takes long lets others go on."""

from __future__ import annotations

import asyncio
import threading

import pytest

from steelyard.web.service import in_turn as turns
from steelyard.web.service.in_turn import in_turn
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("at_once", [1, turns._AT_ONCE])
def test_no_more_than_so_many_calls_run_at_a_time_and_who_came_first_is_first(
    monkeypatch, at_once
) -> None:
    monkeypatch.setattr(turns, "_TURN_S", PATIENCE_S)
    monkeypatch.setattr(turns, "_AT_ONCE", at_once)
    begun: list[int] = []
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    def call(number: int) -> int:
        with lock:
            begun.append(number)
            running.append(number)
            most.append(len(running))
        with lock:
            running.remove(number)
        return number

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(in_turn(call, number) for number in range(100)))

    assert asyncio.run(all_of_them()) == list(range(100))
    assert max(most) <= at_once
    # Of several that have their turn, any may be the first to be noted.
    assert at_once > 1 or begun == list(range(100))


def test_calls_that_wait_for_something_keep_nobody_waiting() -> None:
    free = threading.Event()

    def waits() -> bool:
        return free.wait(PATIENCE_S)

    async def mixed() -> bool:
        slow = [asyncio.ensure_future(in_turn(waits)) for _ in range(2 * turns._AT_ONCE)]
        await asyncio.sleep(0)
        await in_turn(free.set)
        return all(await asyncio.gather(*slow))

    assert asyncio.run(mixed())


def test_a_call_that_fails_passes_its_turn_on_once() -> None:
    def fails() -> None:
        raise OSError("the disk is full")

    async def all_of_them() -> int:
        for _ in range(2 * turns._AT_ONCE):
            with pytest.raises(OSError, match="full"):
                await in_turn(fails)
        return turns._turns_of_this_loop().of("")._value

    assert asyncio.run(all_of_them()) == turns._AT_ONCE


def test_hundred_calls_that_wait_leave_a_thread_to_the_next_one() -> None:
    free = threading.Event()

    async def mixed() -> bool:
        slow = [asyncio.ensure_future(in_turn(free.wait, PATIENCE_S)) for _ in range(100)]
        await asyncio.sleep(0)
        await in_turn(free.set)
        return all(await asyncio.gather(*slow))

    assert asyncio.run(mixed())


def test_calls_that_take_long_wait_for_those_of_their_kind_alone(monkeypatch) -> None:
    monkeypatch.setattr(turns, "_MOST_THREADS", turns._AT_ONCE + 1)
    free = threading.Event()
    lock = threading.Lock()
    running: list[int] = []
    most: list[int] = []

    def reads(number: int) -> bool:
        with lock:
            running.append(number)
            most.append(len(running))
        is_free = free.wait(PATIENCE_S)
        with lock:
            running.remove(number)
        return is_free

    async def mixed() -> bool:
        long = [asyncio.ensure_future(in_turn(reads, each, kind="trials")) for each in range(50)]
        await asyncio.sleep(0)
        await in_turn(free.set)
        return all(await asyncio.gather(*long))

    assert asyncio.run(mixed())
    assert max(most) <= turns._AT_ONCE


@pytest.mark.parametrize("kind", ["", "trials"])
def test_a_call_that_is_given_up_while_it_waits_loses_no_turn(kind) -> None:
    free = threading.Event()

    async def given_up() -> int:
        runs = [asyncio.ensure_future(in_turn(free.wait, kind=kind)) for _ in range(turns._AT_ONCE)]
        waits = [asyncio.ensure_future(in_turn(free.wait, kind=kind)) for _ in range(20)]
        await asyncio.sleep(0)
        for each in waits:
            each.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        free.set()
        await asyncio.gather(*runs)
        return turns._turns_of_this_loop().of(kind)._value

    assert asyncio.run(given_up()) == turns._AT_ONCE
