import io

import pytest

from steelyard.report.texts import progress
from steelyard.report.texts.progress import Progress, progress_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now_s = 100.0

        def monotonic(self):
            return self.now_s

    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_the_line_says_what_is_known():
    assert progress_text(12, "± 1.8 % of 1 %", 12.3, 31, 0) == (
        "block 12 of about 31 · ± 1.8 % of 1 % · about 12.3 s left"
    )
    assert progress_text(3, "", None, None, 2) == "block 3 · 2 failed"
    assert progress_text(0, "", None, None, 0, noun="run") == "the first run is under way"


def test_a_pipe_stays_silent(clock):
    stream = io.StringIO()
    with Progress(stream) as shown:
        clock.now_s += 100
        shown.update(5)
    assert stream.getvalue() == ""


def test_a_verbose_pipe_gets_a_line_every_ten_seconds(clock):
    stream = io.StringIO()
    with Progress(stream, verbose=True) as shown:
        for second in range(25):
            shown.update(second)
            clock.now_s += 1
    assert [line.split(" ·")[0] for line in stream.getvalue().splitlines()] == [
        "steelyard: block 10",
        "steelyard: block 20",
    ]


def test_a_disabled_terminal_stays_silent(clock):
    stream = Terminal()
    with Progress(stream, enabled=False, verbose=True) as shown:
        clock.now_s += 100
        shown.update(5)
    assert stream.getvalue() == ""


def test_the_first_second_draws_nothing(clock):
    stream = Terminal()
    with Progress(stream) as shown:
        clock.now_s += 0.9
        shown.update(5)
    assert stream.getvalue() == ""


def test_a_terminal_is_drawn_at_most_four_times_a_second(clock, monkeypatch):
    stream, drawn = Terminal(), []
    monkeypatch.setattr(Progress, "_draw", lambda self, text: drawn.append(text))
    with Progress(stream) as shown:
        for _ in range(400):
            clock.now_s += 0.01
            shown.update(1)
    assert 10 <= len(drawn) <= 4 * 3 + 1


def test_a_terminal_gets_the_line_and_gets_rid_of_it(clock):
    stream = Terminal()
    shown = Progress(stream)
    clock.now_s += 2
    shown.update(7)
    assert "block 7" in stream.getvalue()
    shown.close()
    shown.close()
    assert stream.getvalue().endswith("\x1b[2K")
