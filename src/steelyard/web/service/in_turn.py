"""Calls in threads that take turns: a few begin at a time, however many people ask at once.

Threads that all have work wait for each other at the interpreter after each answer of the database,
so that sixteen take half as long again as two for the same pages. A call that takes longer than a
page does goes on beside the others: nobody waits for an archive, or for another service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from anyio.lowlevel import RunVar
from starlette.concurrency import run_in_threadpool

_AT_ONCE = 3
_TURN_S = 0.05
_turns = RunVar[asyncio.Semaphore]("turns")

Found = TypeVar("Found")


async def in_turn(call: Callable[..., Found], *words: object) -> Found:
    """What a call returns, made in a thread when it is its turn.

    Parameters
    ----------
    call : callable
    *words
        What it is given.

    Notes
    -----
    First come, first served. The turn passes to the next one when the call has ended, or after
    50 ms.
    """
    turns = _turns_of_this_loop()
    await turns.acquire()
    has_passed = False

    def pass_on() -> None:
        nonlocal has_passed
        if not has_passed:
            has_passed = True
            turns.release()

    moment = asyncio.get_running_loop().call_later(_TURN_S, pass_on)
    try:
        return await run_in_threadpool(call, *words)
    finally:
        moment.cancel()
        pass_on()


def _turns_of_this_loop() -> asyncio.Semaphore:
    try:
        return _turns.get()
    except LookupError:
        _turns.set(found := asyncio.Semaphore(_AT_ONCE))
        return found
