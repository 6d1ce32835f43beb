"""An answer is made once for a state, and whoever looks meanwhile does not wait for the next."""

from __future__ import annotations

import threading

import pytest

from steelyard.core.errors import DataError
from steelyard.web.service import made_answers
from steelyard.web.service.made_answers import MadeAnswers
from steelyard.web.shown_experiment import Answer
from tests.patience import PATIENCE_S


class Maker:
    """Makes answers that say how many were made, each in a second of the clock."""

    def __init__(self):
        self.now_s = 0.0
        self.count = 0
        self.made = threading.Semaphore(0)
        self.answers = MadeAnswers(lambda: self.now_s)

    def make(self):
        self.now_s += 1.0
        self.count += 1
        self.made.release()
        return Answer(200, str(self.count).encode(), "text/plain")

    def told(self, state, key="e"):
        return self.answers.answer(key, state, self.make).data.decode()


def test_an_answer_is_made_once_for_a_state() -> None:
    maker = Maker()
    assert [maker.told(1), maker.told(1), maker.told(1, "f"), maker.told(1)] == ["1", "1", "2", "1"]


def test_as_trials_come_the_last_answer_is_shown_while_the_next_is_made() -> None:
    maker = Maker()
    assert maker.told(1) == "1"
    assert maker.told(2) == "1"
    assert maker.count == 1, "it rests for ten times as long as it took"
    maker.now_s = 12.0
    maker.made.acquire(timeout=PATIENCE_S)
    assert maker.told(3) == "1"
    assert maker.made.acquire(timeout=PATIENCE_S)
    for thread in threading.enumerate():
        if thread.daemon and thread.name.endswith("(_behind)"):
            thread.join(PATIENCE_S)
    assert maker.told(3) == "2"


def test_an_old_answer_is_not_shown_for_the_present_one() -> None:
    maker = Maker()
    maker.told(1)
    maker.now_s = 40.0
    assert maker.told(2) == "2"


def test_what_cannot_be_made_is_said_each_time_and_holds_nobody_up() -> None:
    answers = MadeAnswers()

    def make():
        raise DataError("no")

    for _ in range(2):
        with pytest.raises(DataError):
            answers.answer("e", 1, make)


def test_the_answers_that_nobody_looked_at_for_long_make_room(monkeypatch) -> None:
    monkeypatch.setattr(made_answers, "_MOST_BYTES", 2)
    maker = Maker()
    assert [maker.told(1, key) for key in "abc"] == ["1", "2", "3"]
    assert maker.told(1, "b") == "2"
    assert maker.told(1, "a") == "4"
