"""Slow-downs planted into functions of real sources: is the planted function named first?

A loop that does nothing is written at the start of one function after the other, of the newest
revision of a history. Programs are built with debugging information, as functions are inlined.
The loop leaves its addresses in a section of the program. So the profile tells which benchmarks it
slows, and llvm-symbolizer, which shares no code with what is judged, tells its function.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.commit_pairs.history import (
    LEAST_CHANGE,
    Revision,
    Version,
    make_run,
    sources_of,
    take_revision,
)
from benchmarks.commit_pairs.projects import PROGRAMS, Project
from steelyard.app.predict.commit_code import Programs, compare_code
from steelyard.predict.commits.pair_rows import PairNames
from steelyard.predict.commits.program_code import plain_name
from steelyard.profile.callgrind_file import read_callgrind

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
# `inline`: the compiler takes the text, which makes no instruction, for as short as it is.
_PLANT = (
    "    { volatile int planted = 0; while (planted < 25) { planted++; __asm__ __volatile__ "
    '__inline__("99: .pushsection .debug_planted; .quad 99b; .popsection"); } }\n'
)
# Of one round of the loop: the count is read, written, read again and compared.
_INSTRUCTIONS = 6


@dataclass(frozen=True)
class Planted:
    """One plant: how many benchmarks it slows, and for how many its function was named first."""

    function: str
    slowed: int
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
        for name in sources_of(home / "plain", project)
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


def _version(
    repository: Path, home: Path, project: Project, plant: tuple[str, int, str] | None
) -> Version | None:
    home.mkdir(parents=True)
    take_revision(repository, home, project, project.end)
    if plant is not None:
        name, at, _ = plant
        text = (home / name).read_text(errors="replace")
        (home / name).write_text(text[:at] + _PLANT + text[at:])
    includes = [f"-I{name}" for name in (*project.includes, str(PROGRAMS))]
    call = [project.compiler, "-O2", "-g", "-DNDEBUG", *project.options, *includes]
    call += [str(project.program), *sources_of(home, project), *project.libraries, "-o", "run"]
    if subprocess.run(call, cwd=home, capture_output=True, check=False).returncode != 0:
        return None
    try:
        return make_run(home / "run", home, project, Revision(project.end, 0, None))
    except subprocess.CalledProcessError:
        return None


def _answer(before: Version, after: Version, function: str) -> Planted:
    uses = tuple(f"{name}={path}" for name, path in before.profiles.items())
    found = compare_code(Programs(str(before.program), str(after.program), uses), PairNames())
    addresses = _plant_addresses(after.program)
    right = _functions_at(after.program, addresses) or {function}
    slowed, named, said = 0, 0, ""
    for benchmark, reasons in zip(found.table.benchmarks, found.reasons, strict=True):
        loops = _executions(after.profiles[benchmark], addresses)
        if loops * _INSTRUCTIONS <= LEAST_CHANGE * before.instructions[benchmark]:
            continue
        slowed += 1
        if right & _functions_named(reasons[0]):
            named += 1
        else:
            said = said or f"{benchmark}: {reasons[0]}"
    return Planted("/".join(sorted(right)), slowed, named, said)


def _plant_addresses(program: Path) -> list[int]:
    """Where each copy of the planted loop is, of which inlining makes several."""
    with tempfile.NamedTemporaryFile() as section:
        call = ("objcopy", "-O", "binary", "--only-section=.debug_planted", "--set-section-flags")
        subprocess.run([*call, ".debug_planted=alloc", str(program), section.name], check=True)
        return [one for one in np.fromfile(section.name, "<u8").tolist() if one]


def _functions_at(program: Path, addresses: list[int]) -> set[str]:
    """The innermost function of each address, also if it is inlined."""
    found = (shutil.which(name) for name in ("llvm-symbolizer", "llvm-symbolizer-14"))
    tool = next((one for one in found if one), None)
    if tool is None:
        raise SystemExit("Planted slow-downs want llvm-symbolizer: apt install llvm-14.")
    call = [tool, "--demangle", "--inlines", f"--obj={program}"]
    told = subprocess.run(
        [*call, *map(hex, addresses)], check=True, capture_output=True, text=True
    ).stdout
    return {_bare(one.splitlines()[0]) for one in told.split("\n\n") if one.strip()} - {"??"}


def _executions(profile: Path, addresses: list[int]) -> float:
    places = set(addresses)
    counts = read_callgrind(str(profile)).at_addresses.items()
    return sum(count for (_, address), count in counts if address in places)


def _functions_named(reason: str) -> set[str]:
    """The function of a reason and the one that was inlined there."""
    found = re.search(
        r"^Function (.*), (?:(?:less than )?[\d.]+ % of the instructions|which \S+ did not call)",
        reason,
    )
    inlined = re.search(r", where (.*) is inlined", reason)
    return {_bare(one[1]) for one in (found, inlined) if one is not None}


def _bare(name: str) -> str:
    """A name without scopes, parameters and arguments of templates.

    A constructor and a destructor are called as their type.
    """
    name, count = re.sub(r" \[clone .*", "", plain_name(name)), 1
    while count:
        name, count = re.subn(r"\([^()<>]*\)|<[^()<>]*>", "", name)
    return name.removesuffix(" const").rpartition("::")[2].rpartition(" ")[2].lstrip("~")


def planted_rows(repository: Path, folder: Path, project: Project, most: int) -> str:
    """A line for each plant that slowed a benchmark, and how many were named."""
    found = [one for one in planted(repository, folder, project, most) if one.slowed]
    lines = [
        f"{one.function}: {one.named} of {one.slowed}{': ' + one.said if one.said else ''}"
        for one in found
    ]
    right = sum(one.named == one.slowed for one in found)
    named, slowed = (sum(getattr(one, of) for one in found) for of in ("named", "slowed"))
    return "\n".join(
        [
            *lines,
            f"{right} of {len(found)} planted functions of {project.name} named for all of their "
            f"benchmarks, {named} of {slowed} benchmarks",
        ]
    )
