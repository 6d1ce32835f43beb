"""Answers of experiments that were made: kept until trials come, and made by one thread at a time.

An analysis of many trials takes seconds, and whoever looks at its page looks again.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from steelyard.core.errors import SteelyardError
from steelyard.web.shown_experiment import Answer

_MOST_BYTES = 128 << 20
# An answer that is made again and again as trials come takes a tenth of a processor at most.
_REST_RATIO = 10.0
# So old an answer is not shown in place of the present one.
_OLD_S = 30.0


@dataclass
class _Made:
    """An answer, of which state it is, when it was begun, and until when no other is."""

    state: object = None
    answer: Answer | None = None
    began_s: float = 0.0
    rests_until_s: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class MadeAnswers:
    """The answers by their keys.

    Parameters
    ----------
    clock : callable
        Seconds that only go on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._made: OrderedDict[object, _Made] = OrderedDict()

    def answer(self, key: object, state: object, make: Callable[[], Answer]) -> Answer:
        """The answer of a key in a state, or one that was begun less than half a minute ago while
        another is made."""
        with self._lock:
            made = self._made.setdefault(key, _Made())
            self._made.move_to_end(key)
        shown = made.answer
        if shown is not None and made.state == state:
            return shown
        now_s = self._clock()
        if shown is None or now_s - made.began_s >= max(_OLD_S, made.rests_until_s - made.began_s):
            with made.lock:
                return self._anew(made, state, make)
        if now_s >= made.rests_until_s and made.lock.acquire(blocking=False):
            threading.Thread(target=self._behind, args=(made, state, make), daemon=True).start()
        return shown

    def _behind(self, made: _Made, state: object, make: Callable[[], Answer]) -> None:
        """Make it while the one before is shown; the lock is held already."""
        try:
            self._anew(made, state, make)
        except (SteelyardError, OSError):
            # Whoever asks once the answer is old makes it anew, and is told.
            made.rests_until_s = self._clock() + _OLD_S
        finally:
            made.lock.release()

    def _anew(self, made: _Made, state: object, make: Callable[[], Answer]) -> Answer:
        if made.answer is not None and made.state == state:
            return made.answer
        began_s = self._clock()
        answer = make()
        ended_s = self._clock()
        made.answer, made.state, made.began_s = answer, state, began_s
        made.rests_until_s = ended_s + _REST_RATIO * (ended_s - began_s)
        self._shrink()
        return answer

    def _shrink(self) -> None:
        with self._lock:
            sizes = [len(made.answer.data) for made in self._made.values() if made.answer]
            total = sum(sizes)
            while total > _MOST_BYTES and len(self._made) > 1:
                _, oldest = self._made.popitem(last=False)
                total -= len(oldest.answer.data) if oldest.answer else 0
