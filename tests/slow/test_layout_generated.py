"""Programs that Csmith and YARPGen make up, built to move: each writes what plain clang's writes.

Seeds are 1, 2, 3 ... but for those whose program plain clang's build shows to be of no use;
`STEELYARD_LAYOUT_GENERATED` says how many (100). Programs of both have no undefined behaviour and
no input, and print a checksum of their variables: Csmith's in C, YARPGen's in C++, of loops over
arrays. Those that would run for longer than a few seconds are left out, as Csmith's own scripts do.
`tools/yarpgen.sh` builds YARPGen, which is in no package of Debian's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layout_programs import environment_with, require_layout
from tests.patience import PATIENCE_S

require_layout()
HEADERS = "/usr/include/csmith"
HAS_CSMITH = shutil.which("csmith") is not None and os.path.exists(f"{HEADERS}/csmith.h")
BUILT_YARPGEN = Path(__file__).parents[2] / "build" / "yarpgen" / "yarpgen"
YARPGEN = shutil.which("yarpgen") or (str(BUILT_YARPGEN) if BUILT_YARPGEN.exists() else None)

COUNT = int(os.environ.get("STEELYARD_LAYOUT_GENERATED", "100"))
LONGEST_S = 5  # of processor time
# Plain clang's build runs for longer than that.
ENDLESS_OF_CSMITH = frozenset((20, 22, 81, 88))
# Arrays of more than 2 GiB, which clang cannot link; of seed 1, a minute of compiling.
UNBUILT_OF_YARPGEN = frozenset(
    (
        *(1, 5, 9, 11, 15, 21, 24, 26, 32, 40, 41, 57, 67, 72, 87, 88, 94, 95),
        *(*range(99, 105), 110, 111, 114, 115, 122),
    )
)
# A moving program does the same within this, or it hangs.
LONGEST_MOVING_S = 60
TREATMENTS = ("code,stack,heap", "blocks,stack,heap")


def seeds(left_out: frozenset[int]) -> list[int]:
    """As many as are asked for."""
    return [seed for seed in range(1, COUNT + len(left_out) + 1) if seed not in left_out][:COUNT]


def output(program: Path, longest_s: int, **layout: str) -> str | None:
    """What a program writes; None where it takes more processor time."""
    done = subprocess.run(
        ["prlimit", f"--cpu={longest_s}", program],
        env=environment_with(layout),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return None
    return f"{done.returncode} {done.stdout}{done.stderr}"


def check_same(language: str, seed: int, begin: str, folder: Path, *words: str | Path) -> None:
    """Build a program both ways; each layout must write what plain clang's build writes."""
    plain, moving = folder / "plain", folder / "moving"
    compiler = {"cc": "clang-19", "c++": "clang++-19"}[language]
    if subprocess.run([compiler, *words, "-o", plain], check=False).returncode != 0:
        pytest.skip(f"plain clang cannot build the program of seed {seed}")
    driver = [sys.executable, "-m", "steelyard.cli.main", language]
    subprocess.run([*driver, *words, "-o", moving], check=True)
    expected = output(plain, LONGEST_S)
    if expected is None:
        pytest.skip(f"the program of seed {seed} runs for longer than {LONGEST_S} s")
    assert expected.startswith(begin)
    for parts in TREATMENTS:
        for draw in ("1", "2", "3"):
            layout = {"": parts, "_INTERVAL": "1ms", "_SEED": draw}
            assert output(moving, LONGEST_MOVING_S, **layout) == expected, layout


@pytest.mark.skipif(not HAS_CSMITH, reason="this takes apt-get install csmith libcsmith-dev")
@pytest.mark.parametrize("seed", seeds(ENDLESS_OF_CSMITH))
def test_a_program_made_up_by_csmith_computes_the_same(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "made.c"
    subprocess.run(["csmith", "--seed", str(seed), "--output", source], check=True, cwd=tmp_path)
    options = ("-O1", "-w", f"-I{HEADERS}")
    check_same("cc", seed, "0 checksum = ", tmp_path, *options, source)


@pytest.mark.skipif(YARPGEN is None, reason="this takes tools/yarpgen.sh")
@pytest.mark.parametrize("seed", seeds(UNBUILT_OF_YARPGEN))
def test_a_program_made_up_by_yarpgen_computes_the_same(seed: int, tmp_path: Path) -> None:
    assert YARPGEN is not None
    subprocess.run(
        [YARPGEN, f"--seed={seed}", "--std=c++", f"--out-dir={tmp_path}"],
        check=True,
        capture_output=True,
    )
    options = ("-O2", "-w", f"-I{tmp_path}")
    check_same(
        "c++", seed, "0 ", tmp_path, *options, tmp_path / "driver.cpp", tmp_path / "func.cpp"
    )
