"""What never comes fails its test, and leaves no process behind."""

from __future__ import annotations

import subprocess

import pytest

from tests import patience


def waits() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE)


def test_a_line_that_never_comes_fails_its_test_and_ends_the_process(monkeypatch):
    monkeypatch.setattr(patience, "PATIENCE_S", 0.05)
    with waits() as process, pytest.raises(AssertionError, match=r"no line came in 0\.05 s"):
        patience.line_of(process)
    assert process.returncode < 0


def test_a_process_that_never_ends_fails_its_test_and_is_ended(monkeypatch):
    monkeypatch.setattr(patience, "PATIENCE_S", 0.05)
    with waits() as process, pytest.raises(subprocess.TimeoutExpired):
        patience.said_by(process)
    assert process.returncode < 0


def test_a_line_and_the_rest_are_what_the_process_writes():
    with subprocess.Popen(["printf", "one\\ntwo\\n"], stdout=subprocess.PIPE) as process:
        assert patience.line_of(process) == b"one\n"
        assert patience.said_by(process)[0] == b"two\n"


def test_what_never_comes_fails_its_test(monkeypatch):
    monkeypatch.setattr(patience, "PATIENCE_S", 0.05)
    with pytest.raises(AssertionError, match=r"did not come in 0\.05 s"):
        patience.awaited(lambda: False)


def test_a_process_that_ends_before_what_it_should_bring_fails_the_test_with_its_words():
    with (
        subprocess.Popen(["printf", "too late"], stdout=subprocess.PIPE) as process,
        pytest.raises(AssertionError, match="too late"),
    ):
        patience.awaited(lambda: False, process)


def test_what_came_is_given():
    looks = iter(["", "", "it"])
    assert patience.awaited(lambda: next(looks)) == "it"
