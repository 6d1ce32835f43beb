"""The tests that stand beside the native parts of layout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2] / "build" / "native" / "layout" / "layout-tests"


def test_the_parts_of_layout_keep_their_word() -> None:
    if not TESTS.exists():
        pytest.skip("the native tests of layout are not built; `make native` does on x86-64")
    done = subprocess.run([TESTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
