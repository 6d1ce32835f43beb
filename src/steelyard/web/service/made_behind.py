"""What takes seconds to make, made by a thread of its own while a page is shown without it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

# Small things are made within this time, so that their page is whole at once.
_PATIENCE_S = 0.1
# So many are kept, and so many wait; whoever asks for more asks again.
_KEPT, _MOST_WAITING = 64, 8


@dataclass
class _Made(Generic[T]):
    """What was made last of which state, why the next was not, and whether it is being made."""

    state: object = None
    value: T | None = None
    failure: Exception | None = None
    ended: threading.Event | None = field(default=None)


class MadeBehind(Generic[T]):
    """Things by their keys, each made anew once its state is another.

    Parameters
    ----------
    patience_s : float
        How long whoever asks waits for a thing that was never made, in seconds.
    """

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._made: OrderedDict[object, _Made[T]] = OrderedDict()

    def of(self, key: object, state: object, make: Callable[[], T]) -> tuple[T | None, bool]:
        """What was made last, if anything was, and whether it is of this state; if not, it is being
        made. What `make` raised is raised, once.
        """
        made, ended = self._begun(key, state, make)
        if made.value is None and ended is not None:
            ended.wait(self._patience_s)
        with self._lock:
            failure, made.failure = made.failure, None
            if failure is not None:
                raise failure
            return made.value, made.value is not None and made.state == state

    def _begun(
        self, key: object, state: object, make: Callable[[], T]
    ) -> tuple[_Made[T], threading.Event | None]:
        with self._lock:
            made = self._made.setdefault(key, _Made())
            self._made.move_to_end(key)
            waiting = [each for each in self._made.values() if each.ended is not None]
            is_there = made.value is not None and made.state == state
            has_place = made.failure is None and len(waiting) < _MOST_WAITING
            if made.ended is None and not is_there and has_place:
                made.ended = threading.Event()
                target = (made, state, make, made.ended)
                threading.Thread(target=self._make, args=target, daemon=True).start()
            self._forget_oldest()
            return made, made.ended

    def _make(
        self, made: _Made[T], state: object, make: Callable[[], T], ended: threading.Event
    ) -> None:
        value, failure = None, None
        with self._turn:
            try:
                value = make()
            except Exception as error:  # noqa: BLE001 - whoever asks is told
                failure = error
        with self._lock:
            if failure is None:
                made.value, made.state = value, state
            made.failure, made.ended = failure, None
        ended.set()

    def _forget_oldest(self) -> None:
        idle = [key for key, each in self._made.items() if each.ended is None]
        for key in idle[: max(0, len(self._made) - _KEPT)]:
            del self._made[key]
