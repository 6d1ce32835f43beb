"""The tests that stand beside the native parts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2] / "build" / "native" / "launcher" / "launcher-tests"


def test_the_parts_of_the_launcher_keep_their_word() -> None:
    if not TESTS.exists():
        pytest.skip("the native tests are not built; `make native` builds them")
    done = subprocess.run([TESTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
