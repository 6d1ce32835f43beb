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
