"""A run of tests that is stopped from outside has named what failed and what hung."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = """
import tests.conftest
from tests.said_at_once import SaidAtOnce
tests.conftest.SaidAtOnce = lambda terminal: SaidAtOnce(terminal, long_s=0.05)
from tests.conftest import pytest_runtest_makereport, pytest_sessionstart  # noqa: F401
"""
TESTS = """
import subprocess
import threading
def test_one():
    assert 1 == 2, "it is not"
def test_of_a_command():
    long = ["sh", "-c", "echo why not >&2; exit 3", "x" * 1000]
    subprocess.run(long, check=True, capture_output=True)
def test_two():
    threading.Event().wait()
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_run_that_is_stopped_has_named_what_failed_and_what_hung(tmp_path, workers):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, str(tmp_path)],
        cwd=tmp_path,
        env={
            "PYTHONPATH": f"{ROOT}:{ROOT}/src",
            "PATH": "/usr/bin:/bin",
            "TMPDIR": str(tmp_path),
        },
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as running:
        assert running.stdout is not None
        lines: list[str] = []
        for line in running.stdout:
            lines.append(line)
            # On a busy machine the first one may be named too.
            if line.startswith("still running") and line.endswith("test_some.py::test_two\n"):
                break
        os.killpg(running.pid, signal.SIGKILL)
    failed, command = [line for line in lines if line.startswith("FAILED")]
    assert "test_some.py::test_one (call): " in failed
    assert "AssertionError: it is not" in failed
    assert command.endswith("returned non-zero exit status 3.\n")
    assert "what the failed command wrote on standard error: why not\n" in lines
    assert lines[-1].startswith("still running")
