"""What is made behind a page is made once, shown while the next is made, and told if it fails."""

from __future__ import annotations

import threading
import time

import pytest

from steelyard.core.errors import DataError
from steelyard.web.service import made_behind
from steelyard.web.service.made_behind import MadeBehind
from tests.patience import PATIENCE_S


def once(made, key, state, make, is_wanted=lambda told: told[1]):
    """What it says once it is what is wanted."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_wanted(told := made.of(key, state, make)):
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
    return told


def test_what_is_quick_is_there_at_once_and_made_once_for_a_state() -> None:
    made, count = MadeBehind(PATIENCE_S), []
    for state in (1, 1, 1):
        assert made.of("e", state, lambda: count.append(0) or len(count)) == (1, True)


def test_what_is_slow_is_not_waited_for_and_the_one_before_is_shown() -> None:
    made, go_on = MadeBehind(0.0), threading.Event()

    def slow(value):
        assert go_on.wait(PATIENCE_S)
        return value

    assert made.of("e", 1, lambda: slow("a")) == (None, False)
    go_on.set()
    assert once(made, "e", 1, lambda: slow("b")) == ("a", True)
    go_on.clear()
    assert made.of("e", 2, lambda: slow("b")) == ("a", False)
    go_on.set()
    assert once(made, "e", 2, lambda: slow("c")) == ("b", True)


def test_a_failure_is_told_once_and_the_next_look_tries_again() -> None:
    made = MadeBehind(PATIENCE_S)

    def fail():
        raise DataError("no")

    for _ in range(2):
        with pytest.raises(DataError):
            made.of("e", 1, fail)
    assert made.of("e", 1, lambda: 5) == (5, True)


def test_no_more_than_some_wait_and_no_more_than_some_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(made_behind, "_MOST_WAITING", 2)
    monkeypatch.setattr(made_behind, "_KEPT", 3)
    made, go_on, asked = MadeBehind(0.0), threading.Event(), []

    def make(key):
        asked.append(key)
        assert go_on.wait(PATIENCE_S)
        return key

    for key in "abcd":
        assert made.of(key, 1, lambda key=key: make(key)) == (None, False)
    go_on.set()
    for key in "abcd":
        assert once(made, key, 1, lambda key=key: make(key)) == (key, True)
    assert sorted(asked) == list("abcd")
    assert len(made._made) == 3
