"""Calls in threads that take turns: a few begin at a time, however many people ask at once.

Threads that all have work wait for each other at the interpreter after each answer of the database,
so that sixteen take half as long again as two for the same pages. A call that takes longer than a
page does goes on beside the others: nobody waits for another service or for a lock. Calls that
read a whole experiment wait for others of their kind alone, and hold no thread meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

_AT_ONCE = 3
_TURN_S = 0.05
# Threads that wait for a lock cost little; whatever is sent in pieces has others.
_MOST_THREADS = 200

Found = TypeVar("Found")


class _Turns:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._by_kind: dict[str, asyncio.Semaphore] = {}
        self.threads = CapacityLimiter(_MOST_THREADS)

    def of(self, kind: str) -> asyncio.Semaphore:
        return self._by_kind.setdefault(kind, asyncio.Semaphore(_AT_ONCE))


_turns = RunVar[_Turns]("turns")


async def in_turn(call: Callable[..., Found], *words: object, kind: str = "") -> Found:
    """What a call returns, made in a thread when it is its turn.

    Parameters
    ----------
    call : callable
    *words
        What it is given.
    kind : str
        Of a call that takes long; as many of a kind run at a time, and the others wait.

    Notes
    -----
    First come, first served. The turn passes to the next one when the call has ended, or, without a
    kind, after 50 ms.
    """
    turns = _turns_of_this_loop()
    own = turns.of(kind)
    await own.acquire()
    has_passed = False

    def pass_on() -> None:
        nonlocal has_passed
        if not has_passed:
            has_passed = True
            own.release()

    moment = None if kind else asyncio.get_running_loop().call_later(_TURN_S, pass_on)
    try:
        return await run_sync(call, *words, limiter=turns.threads)
    finally:
        if moment is not None:
            moment.cancel()
        pass_on()


def _turns_of_this_loop() -> _Turns:
    try:
        return _turns.get()
    except LookupError:
        _turns.set(found := _Turns())
        return found
