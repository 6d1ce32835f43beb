"""Pairs of real histories, commit by commit, labelled by instructions.

A revision is built with the benchmarks into one program; each benchmark is run once by callgrind,
which gives its label (its instructions changed by more than 1 %) and, for later revisions, what it
reaches. Runs are kept by the program's digest: revisions with equal programs are run once.
"""

from __future__ import annotations

import hashlib
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from benchmarks.commit_pairs.projects import PROGRAMS, Project
from steelyard.app.predict.benchmark_uses import read_uses
from steelyard.app.predict.commit_code import append_pairs, compare_uses
from steelyard.binary.code_reader import read_code
from steelyard.predict.arrays import Floats
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.pair_rows import PairNames
from steelyard.predict.commits.pair_table import PairTable
from steelyard.profile.callgrind_file import read_callgrind

LEAST_CHANGE = 0.01
DISTANCES = (1, 2, 4, 8, 15)
_MEASURED = "measured"


@dataclass(frozen=True)
class Revision:
    """A commit, its place in the history (0 is the oldest), and the place of its parent."""

    name: str
    place: int
    parent: int | None


@dataclass(frozen=True)
class Version:
    """A revision that was built and run."""

    revision: Revision
    program: Path
    profiles: Mapping[str, Path]
    instructions: Mapping[str, float]


def git(repository: Path, *arguments: str) -> bytes:
    """What git says."""
    call = ["git", "-C", str(repository), *arguments]
    return subprocess.run(call, check=True, capture_output=True).stdout


def revisions(repository: Path, project: Project) -> list[Revision]:
    """The last revisions that change the project's paths, the oldest first.

    The parent is the nearest such revision before it, along first parents.
    """
    options = ("--topo-order", "--parents", f"--max-count={project.count}")
    told = git(repository, "rev-list", *options, project.end, "--", *project.paths)
    lines = [line.split() for line in told.decode().splitlines()][::-1]
    places = {line[0]: place for place, line in enumerate(lines)}
    return [
        Revision(line[0], place, places.get(line[1]) if len(line) > 1 else None)
        for place, line in enumerate(lines)
    ]


def _run(*call: str, cwd: Path) -> None:
    subprocess.run(call, cwd=cwd, check=True, capture_output=True)


def _build(repository: Path, folder: Path, project: Project, revision: str) -> Path:
    home = folder / "revisions" / revision[:12]
    program = home / "run"
    if (home / "failed").exists():
        raise OSError("it was not built before")
    if program.exists():
        return program
    home.mkdir(parents=True, exist_ok=True)
    take_revision(repository, home, project, revision)
    sources = sources_of(home, project)
    try:
        objects = [
            _compile(project, folder / "objects", home, source)
            for source in (str(project.program), *sources)
        ]
        _run(project.compiler, *map(str, objects), *project.libraries, "-o", "part", cwd=home)
    except subprocess.CalledProcessError as error:
        (home / "failed").write_bytes(error.stderr)
        raise
    return (home / "part").rename(program)


def take_revision(repository: Path, home: Path, project: Project, revision: str) -> None:
    """Put what a project has of a revision into a folder."""
    there = git(repository, "ls-tree", "--name-only", revision).decode().split()
    taken = [
        name for name in there if any(fnmatchcase(name, pattern) for pattern in project.folders)
    ]
    archive = git(repository, "archive", revision, *taken)
    subprocess.run(["tar", "-x"], input=archive, cwd=home, check=True)


def sources_of(home: Path, project: Project) -> list[str]:
    """The names of what is compiled."""
    return sorted(
        str(path.relative_to(home)) for pattern in project.sources for path in home.glob(pattern)
    )


def _compile(project: Project, folder: Path, home: Path, source: str) -> Path:
    """The object file of a source; equal texts after preprocessing are compiled once."""
    includes = [f"-I{name}" for name in (*project.includes, str(PROGRAMS))]
    call = [project.compiler, "-O2", "-DNDEBUG", *project.options, *includes]
    text = subprocess.run(
        [*call, "-E", "-P", source], cwd=home, check=True, capture_output=True
    ).stdout
    digest = hashlib.sha256(text).hexdigest()[:20]
    place = folder / f"{digest}.o"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{digest}-{home.name}.part"
        _run(*call, "-c", source, "-o", str(part), cwd=home)
        part.rename(place)
    return place


def make_version(
    repository: Path, folder: Path, project: Project, revision: Revision
) -> Version | None:
    """Build and run one revision; what is there from another time is taken. None: not built."""
    try:
        program = _build(repository, folder, project, revision.name)
        digest = hashlib.sha256(program.read_bytes()).hexdigest()[:20]
        home = folder / "runs" / digest
        home.mkdir(parents=True, exist_ok=True)
        return make_run(program, home, project, revision)
    except (subprocess.CalledProcessError, OSError):
        return None


def make_run(program: Path, home: Path, project: Project, revision: Revision) -> Version:
    """Run the benchmarks of a program that was built, as far as its profiles are not there."""
    profiles = {name: home / f"{name}.out" for name in project.benchmarks}
    for name, path in profiles.items():
        if path.exists():
            continue
        part = home / f"{name}-{revision.place}.part"
        options = ("--quiet", "--dump-instr=yes", "--demangle=no", f"--toggle-collect={_MEASURED}")
        tool = ("valgrind", "--tool=callgrind", *options, f"--callgrind-out-file={part}")
        _run(*tool, str(program), name, cwd=home)
        part.rename(path)
    counts = {name: _counted(path) for name, path in profiles.items()}
    return Version(revision, program, profiles, counts)


def _counted(profile: Path) -> float:
    return float(sum(read_callgrind(str(profile)).instructions.values()))


def make_versions(repository: Path, folder: Path, project: Project) -> dict[int, Version]:
    """All revisions that build, by their places, two at a time."""
    wanted = revisions(repository, project)
    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda one: make_version(repository, folder, project, one), wanted)
        return {version.revision.place: version for version in made if version is not None}


def pairs(versions: Mapping[int, Version], distance: int) -> Iterator[tuple[Version, Version]]:
    """Versions and the one that is so many revisions before, along first parents."""
    for place in sorted(versions):
        before: Version | None = versions[place]
        for _ in range(distance):
            parent = None if before is None else before.revision.parent
            before = None if parent is None else versions.get(parent)
        if before is not None:
            yield before, versions[place]


def synthetic_pairs(
    versions: Mapping[int, Version], step: int
) -> Iterator[tuple[Version, Version]]:
    """Every pair of every `step`-th version, the older one first (Oliveira 2015, table 6.4)."""
    places = sorted(versions)[::step]
    for at, place in enumerate(places):
        for before in places[:at]:
            yield versions[before], versions[place]


def costs(versions: Mapping[int, Version], table: PairTable) -> Floats:
    """The instructions of each row's benchmark in the older version."""
    by_name = {version.revision.name[:12]: version for version in versions.values()}
    rows = zip(table.known, table.benchmarks, strict=True)
    return np.array([by_name[known].instructions[benchmark] for known, benchmark in rows])


def write_pairs(
    project: str, chosen: Sequence[tuple[Version, Version]], distance: int, path: Path
) -> float:
    """A table of pairs; the median of the seconds that comparing took."""
    spent: list[float] = []
    for old, new in chosen:
        begin = time.perf_counter()
        code = read_code(str(old.program))
        change = compare_programs(code, read_code(str(new.program)))
        uses = read_uses([f"{name}={profile}" for name, profile in old.profiles.items()], code)
        place = new.revision.place
        names = PairNames(old.revision.name[:12], new.revision.name[:12], project, place, distance)
        table = compare_uses(change, uses, names).table
        spent.append(time.perf_counter() - begin)
        ratios = [new.instructions[name] / old.instructions[name] for name in table.benchmarks]
        has_changed = np.abs(np.array(ratios) - 1) > LEAST_CHANGE
        for changed, word in ((False, "no"), (True, "yes")):
            rows = table.rows(has_changed == changed)
            if len(rows):
                append_pairs(str(path), rows, dict.fromkeys(rows.benchmarks, word))
    return float(np.median(spent)) if spent else 0.0
