"""Repositories of git for tests, made by one stream of fast-import."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

START_UNIX_S = 1_600_000_000


@dataclass(frozen=True)
class Planned:
    """A commit to make: its name in the test, its parents' names, files and time."""

    name: str
    parents: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    time_unix_s: int | None = None


def line_of(count: int, prefix: str = "c") -> list[Planned]:
    """Commits one after the other, each with a file of its own."""
    return [
        Planned(f"{prefix}{n}", (f"{prefix}{n - 1}",) if n else (), {f"{prefix}{n}.txt": f"{n}\n"})
        for n in range(count)
    ]


def make_repository(path: Path, planned: Sequence[Planned], branch: str = "main") -> dict[str, str]:
    """Make a repository with these commits, the last one on `branch`; their names in git."""
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "-b", branch, str(path)], check=True)
    return add_commits(path, planned, branch)


def add_commits(path: Path, planned: Sequence[Planned], branch: str = "main") -> dict[str, str]:
    """Add commits to a repository whose parents are among them; the last one becomes the branch."""
    marks = {commit.name: number for number, commit in enumerate(planned, start=1)}
    stream = "".join(_commit(commit, marks) for commit in planned)
    last = marks[planned[-1].name]
    stream += f"reset refs/heads/{branch}\nfrom :{last}\n\n"
    exported = path / "marks"
    subprocess.run(
        ["git", "-C", str(path), "fast-import", "--quiet", "--force", f"--export-marks={exported}"],
        input=stream.encode(),
        check=True,
    )
    subprocess.run(["git", "-C", str(path), "reset", "-q", "--hard", branch], check=True)
    names = dict(line.split() for line in exported.read_text("utf-8").splitlines())
    exported.unlink()
    return {commit.name: names[f":{marks[commit.name]}"] for commit in planned}


def _commit(commit: Planned, marks: Mapping[str, int]) -> str:
    number = marks[commit.name]
    time = START_UNIX_S + 60 * number if commit.time_unix_s is None else commit.time_unix_s
    lines = [f"commit refs/heads/made-{number}", f"mark :{number}"]
    lines += [f"committer Test <test@example.org> {time} +0000", _data(commit.name)]
    for place, parent in enumerate(commit.parents):
        lines.append(f"{'merge' if place else 'from'} :{marks[parent]}")
    for name, text in commit.files.items():
        lines += [f"M 100644 inline {name}", _data(text)]
    return "\n".join(lines) + "\n\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}"
