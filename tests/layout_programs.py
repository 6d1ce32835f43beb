"""Building and running programs that move, for the tests of layout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.layout.toolchain import NATIVE
from tests.needs import need
from tests.patience import PATIENCE_S

SOURCES = Path(__file__).parent / "integration" / "data" / "layout"


def require_layout() -> None:
    """Skip the module where programs that move cannot be built."""
    need("clang-19", "ld.lld-19")
    if not os.path.exists(os.path.join(NATIVE, "steelyard-relink")):
        pytest.skip("the native parts of layout are not built", allow_module_level=True)


def build_endurance(folder: Path, *options: str) -> str:
    """The program that checks itself while it moves."""
    path = str(folder / "endurance")
    words = ("c++", "-std=c++20", "-O2", "-pthread", *options)
    told = subprocess.run(
        [sys.executable, "-m", "steelyard.cli.main", *words, SOURCES / "endurance.cpp", "-o", path],
        capture_output=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, b"")
    return path


def environment_with(layout: dict[str, str]) -> dict[str, str]:
    """This environment with the runtime's variables, which are named by their last words."""
    return {**os.environ, **{f"STEELYARD_LAYOUT{name}": value for name, value in layout.items()}}


def run(program: str, *arguments: str, **layout: str) -> subprocess.CompletedProcess[str]:
    """A run to its good end."""
    done = subprocess.run(
        [program, *arguments],
        env=environment_with(layout),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, (layout, done.returncode, done.stderr)
    return done


def read_report(file: Path | str) -> dict[str, Any]:
    """What the runtime says that it did."""
    return json.loads(Path(file).read_text())
