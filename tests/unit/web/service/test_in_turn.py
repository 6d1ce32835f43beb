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
        return turns._turns_of_this_loop()._value

    assert asyncio.run(all_of_them()) == turns._AT_ONCE
