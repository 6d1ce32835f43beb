"""Pairs of a real history: lz4's library, commit by commit, labelled by instructions.

A revision is built from `lib/*.c` alone; each benchmark is run once by callgrind, which gives its
label (its instructions changed by more than 1 %) and, for later revisions, what it reaches.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.app.predict.benchmark_uses import read_uses
from steelyard.app.predict.commit_code import append_pairs
from steelyard.binary.code_reader import read_code
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.pair_rows import PairNames, compare_pair
from steelyard.profile.callgrind_file import read_callgrind

BENCHMARKS = ("fast", "accelerated", "high", "frame", "stream", "decompress")
PROGRAM = Path(__file__).with_name("lz4_benchmarks.c")
FILES = ("lz4.c", "lz4hc.c", "lz4frame.c", "xxhash.c")
LEAST_CHANGE = 0.01
DISTANCES = (1, 2, 4, 8, 15)


@dataclass(frozen=True)
class Version:
    """A revision that was built and run."""

    revision: str
    place: int
    library: Path
    profiles: dict[str, Path]
    instructions: dict[str, float]


def git(repository: Path, *arguments: str) -> bytes:
    """What git says."""
    call = ["git", "-C", str(repository), *arguments]
    return subprocess.run(call, check=True, capture_output=True).stdout


def revisions(repository: Path, end: str, count: int) -> list[str]:
    """The last `count` revisions up to one that change code of the library, the oldest first."""
    paths = ("lib/*.c", "lib/*.h")
    options = ("--topo-order", "--no-merges", f"--max-count={count}")
    told = git(repository, "rev-list", *options, end, "--", *paths)
    return told.decode().split()[::-1]


def _run(*call: str, cwd: Path, **environment: str) -> None:
    subprocess.run(
        ["nice", "-n", "19", *call],
        cwd=cwd,
        check=True,
        capture_output=True,
        env={**os.environ, **environment},
    )


def make_version(repository: Path, folder: Path, place: int, revision: str) -> Version | None:
    """Build and run one revision; what is there from another time is taken. None: not built."""
    home = folder / revision[:12]
    library = home / "liblz4.so"
    try:
        if not library.exists():
            home.mkdir(parents=True, exist_ok=True)
            archive = git(repository, "archive", revision, "lib")
            subprocess.run(["tar", "-x"], input=archive, cwd=home, check=True)
            sources = [name for name in FILES if (home / "lib" / name).exists()]
            options = ("-O2", "-fPIC", "-shared", "-Wl,-soname,liblz4.so", "-o", "../liblz4.so")
            _run("gcc", *sources, *options, cwd=home / "lib")
        if not (home / "run").exists():
            _run("gcc", "-O2", str(PROGRAM), "liblz4.so", "-o", "run", cwd=home)
        profiles: dict[str, Path] = {}
        for benchmark in BENCHMARKS:
            profiles[benchmark] = home / f"{benchmark}.out"
            if not profiles[benchmark].exists():
                part = home / f"{benchmark}.part"
                tool = ("--tool=callgrind", "--quiet", f"--callgrind-out-file={part}")
                call = ("valgrind", *tool, "./run", benchmark)
                _run(*call, cwd=home, LD_LIBRARY_PATH=str(home))
                part.rename(profiles[benchmark])
    except (subprocess.CalledProcessError, OSError):
        return None
    counts = {name: _counted(path) for name, path in profiles.items()}
    return Version(revision, place, library, profiles, counts)


def _counted(profile: Path) -> float:
    """Instructions in the library and what it calls, without the benchmark and the loader."""
    counts = read_callgrind(str(profile)).instructions
    objects = ("liblz4", "libc.so", "libc-")
    return float(
        sum(n for (one, _), n in counts.items() if os.path.basename(one).startswith(objects))
    )


def make_versions(repository: Path, folder: Path, names: Sequence[str]) -> list[Version]:
    """All revisions that build, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda one: make_version(repository, folder, *one), list(enumerate(names)))
        return [version for version in made if version is not None]


def write_pairs(versions: Sequence[Version], distance: int, path: Path) -> float:
    """A table of all pairs at a distance; the median of the seconds that comparing took."""
    spent: list[float] = []
    for old, new in zip(versions, versions[distance:], strict=False):
        begin = time.perf_counter()
        code = read_code(str(old.library))
        change = compare_programs(code, read_code(str(new.library)))
        uses = read_uses([f"{name}={profile}" for name, profile in old.profiles.items()], code)
        names = PairNames(old.revision[:12], new.revision[:12], "lz4", new.place, distance)
        table = compare_pair(change, uses, names).table
        spent.append(time.perf_counter() - begin)
        for row, name in enumerate(table.benchmarks):
            ratio = new.instructions[name] / old.instructions[name]
            chosen = np.arange(len(table)) == row
            changed = "yes" if abs(ratio - 1) > LEAST_CHANGE else "no"
            append_pairs(str(path), replace(table.rows(chosen)), changed)
    return float(np.median(spent))
