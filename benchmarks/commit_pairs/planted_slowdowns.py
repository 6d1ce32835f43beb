"""Slow-downs planted into functions of real sources: is the planted function named first?

A loop that does nothing is written at the start of one function after the other, of the newest
revision of a history. Programs are built with debugging information, as functions are inlined.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commit_pairs.history import LEAST_CHANGE, Revision, Version, git, make_run
from benchmarks.commit_pairs.projects import PROGRAMS, Project
from steelyard.app.predict.commit_code import Programs, compare_code
from steelyard.predict.commits.pair_rows import PairNames

_DEFINITION = re.compile(
    r"^(?!typedef|struct|enum|union|#)[A-Za-z_][^\n;{}#=]*?\b(\w+)\s*\([^;{}#]*\)\s*\n?\{[ \t]*\n",
    re.MULTILINE,
)
# The same where a namespace is indented, and not what only looks like it.
_INDENTED = re.compile(
    r"^[ \t]+(?!typedef|struct|enum|union|if|for|while|switch|else|return|do|case|catch|namespace)"
    r"[A-Za-z_][^\n;{}#=]*?\b(\w+)\s*\([^;{}#]*\)(?:\s*const)?\s*\n?[ \t]*\{[ \t]*\n",
    re.MULTILINE,
)
_PLANT = "    { volatile int planted = 0; while (planted < 25) planted++; }\n"


@dataclass(frozen=True)
class Planted:
    """One plant: how many benchmarks changed, and for how many its function was named first."""

    function: str
    changed: int
    named: int
    said: str


def planted(repository: Path, folder: Path, project: Project, most: int) -> Iterator[Planted]:
    """Plant into up to `most` functions, spread over the sources."""
    home = folder / "planted"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    before = _version(repository, home / "plain", project, None)
    assert before is not None
    places = [
        (name, found.end(), found[1])
        for name in _sources(home / "plain", project)
        for found in _definitions((home / "plain" / name).read_text(errors="replace"))
    ]
    step = max(1, len(places) // most)
    for number, place in enumerate(places[::step]):
        after = _version(repository, home / str(number), project, place)
        if after is not None:
            yield _answer(before, after, place[2])
        shutil.rmtree(home / str(number), ignore_errors=True)


def _definitions(text: str) -> list[re.Match[str]]:
    """The functions at the margin; where there is none, those that are indented."""
    return list(_DEFINITION.finditer(text)) or list(_INDENTED.finditer(text))


def _sources(home: Path, project: Project) -> list[str]:
    return sorted(
        str(path.relative_to(home)) for pattern in project.sources for path in home.glob(pattern)
    )


def _version(
    repository: Path, home: Path, project: Project, plant: tuple[str, int, str] | None
) -> Version | None:
    home.mkdir(parents=True)
    there = git(repository, "ls-tree", "--name-only", project.end).decode().split()
    archive = git(repository, "archive", project.end, *(set(project.folders) & set(there)))
    subprocess.run(["tar", "-x"], input=archive, cwd=home, check=True)
    if plant is not None:
        name, at, _ = plant
        text = (home / name).read_text(errors="replace")
        (home / name).write_text(text[:at] + _PLANT + text[at:])
    includes = [f"-I{name}" for name in (*project.includes, str(PROGRAMS))]
    call = [project.compiler, "-O2", "-g", "-DNDEBUG", *includes, str(project.program)]
    call += [*_sources(home, project), *project.libraries, "-o", "run"]
    if subprocess.run(call, cwd=home, capture_output=True, check=False).returncode != 0:
        return None
    try:
        return make_run(home / "run", home, project, Revision(project.end, 0, None))
    except subprocess.CalledProcessError:
        return None


def _answer(before: Version, after: Version, function: str) -> Planted:
    uses = tuple(f"{name}={path}" for name, path in before.profiles.items())
    found = compare_code(Programs(str(before.program), str(after.program), uses), PairNames())
    changed, named, said = 0, 0, ""
    for benchmark, reasons in zip(found.table.benchmarks, found.reasons, strict=True):
        ratio = after.instructions[benchmark] / before.instructions[benchmark]
        if ratio - 1 <= LEAST_CHANGE:
            continue
        changed += 1
        if function in _functions_named(reasons[0]):
            named += 1
        else:
            said = said or reasons[0]
    return Planted(function, changed, named, said)


def _functions_named(reason: str) -> set[str]:
    """The function of a reason and the one that was inlined there, without scopes and parameters.

    A constructor and a destructor are called as their type.
    """
    found = re.search(
        r"^Function (.*), (?:(?:less than )?[\d.]+ % of the instructions|which \S+ did not call)",
        reason,
    )
    inlined = re.search(r", where (.*) is inlined", reason)
    names = [
        one[1].replace("(anonymous namespace)::", "") for one in (found, inlined) if one is not None
    ]
    return {re.sub(r" \[clone .*|\(.*", "", name).rpartition("::")[2].lstrip("~") for name in names}


def planted_rows(repository: Path, folder: Path, project: Project, most: int) -> str:
    """A line for each plant that changed a benchmark, and how many were named."""
    found = [one for one in planted(repository, folder, project, most) if one.changed]
    lines = [
        f"{one.function}: {one.named} of {one.changed}{': ' + one.said if one.said else ''}"
        for one in found
    ]
    right = sum(one.named == one.changed for one in found)
    return "\n".join([*lines, f"{right} of {len(found)} planted functions of {project.name} named"])
