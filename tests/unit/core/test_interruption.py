"""Interruptions reach who waits, whichever thread was handed the signal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from steelyard.core import interruption
from steelyard.core.process_state import kept_awake
from tests.patience import PATIENCE_S, awaited


@pytest.fixture(autouse=True)
def _interruptions() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    yield
    signal.signal(signal.SIGINT, before)
    interruption.heard()


def test_who_waits_is_interrupted_by_a_signal_of_another_thread() -> None:
    never, is_waiting = threading.Event(), threading.Event()

    def is_over(seconds: float) -> bool:
        is_waiting.set()
        return never.wait(seconds)

    def interrupts() -> None:
        assert is_waiting.wait(PATIENCE_S)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    thread = threading.Thread(target=interrupts)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        interruption.wait_until(is_over)
    thread.join()


def test_waiting_ends_when_there_is_no_more_to_wait_for() -> None:
    answers = iter([False, False, True])
    interruption.wait_until(lambda _: next(answers))
    assert next(answers, None) is None


def test_a_thread_that_only_watches_a_process_is_handed_no_interruption() -> None:
    known = set(threading.enumerate())
    with kept_awake(1):
        (watcher,) = set(threading.enumerate()) - known
        with open(f"/proc/self/task/{watcher.native_id}/status") as status:
            (masked,) = (line.split()[1] for line in status if line.startswith("SigBlk:"))
        blocked = {number for number in signal.Signals if int(masked, 16) >> (number - 1) & 1}
        assert blocked >= set(interruption.INTERRUPTING)
        # What is started here can be interrupted.
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & blocked
    awaited(lambda: not watcher.is_alive())
