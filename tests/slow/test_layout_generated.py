"""Programs that Csmith makes up, built to move: each writes what plain clang's build of it writes.

Seeds are 1, 2, 3 ...; `STEELYARD_LAYOUT_GENERATED` says how many (100). Csmith's programs have no
undefined behaviour and no input, and print a checksum of their variables. Those that would run for
longer than a few seconds are left out, as Csmith's own scripts do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layout_programs import environment_with, require_layout

require_layout()
HEADERS = "/usr/include/csmith"
if shutil.which("csmith") is None or not os.path.exists(f"{HEADERS}/csmith.h"):
    pytest.skip("this takes apt-get install csmith libcsmith-dev", allow_module_level=True)

COUNT = int(os.environ.get("STEELYARD_LAYOUT_GENERATED", "100"))
LONGEST_S = 5
# A moving program does the same within this, or it hangs.
PATIENCE_S = 120
OPTIONS = ("-O1", "-w", f"-I{HEADERS}")
TREATMENTS = ("code,stack,heap", "blocks,stack,heap")


def output(program: Path, limit_s: int, **layout: str) -> str | None:
    """What a program writes; None where it does not end in time."""
    try:
        done = subprocess.run(
            [program],
            env=environment_with(layout),
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return f"{done.returncode} {done.stdout}{done.stderr}"


@pytest.mark.parametrize("seed", range(1, COUNT + 1))
def test_a_program_made_up_by_csmith_computes_the_same(seed: int, tmp_path: Path) -> None:
    source, plain, moving = (tmp_path / name for name in ("made.c", "plain", "moving"))
    subprocess.run(["csmith", "--seed", str(seed), "--output", source], check=True, cwd=tmp_path)
    subprocess.run(["clang-19", *OPTIONS, source, "-o", plain], check=True)
    driver = [sys.executable, "-m", "steelyard.cli.main", "cc"]
    subprocess.run([*driver, *OPTIONS, source, "-o", moving], check=True)
    expected = output(plain, LONGEST_S)
    if expected is None:
        pytest.skip(f"the program of seed {seed} runs for longer than {LONGEST_S} s")
    assert expected.startswith("0 checksum = ")
    for parts in TREATMENTS:
        for draw in ("1", "2", "3"):
            layout = {"": parts, "_INTERVAL": "1ms", "_SEED": draw}
            assert output(moving, PATIENCE_S, **layout) == expected, layout
