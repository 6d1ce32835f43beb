"""Do projects' own tests pass when they are built to move, and move every 500 ms and every 5 ms?

Each project is built twice, by plain clang and with `steelyard cc` and `steelyard c++` as its `CC`
and `CXX`, and its tests are run once with each treatment. The same number of tests has to pass as
with plain clang. Debian's sources that are not in FOLDER yet are fetched there, from the archives
that apt is configured for:

    python -m benchmarks.layout_projects FOLDER [PROJECT...]

FOLDER/PROJECT then holds the sources, `plain` and `moving` with the two builds, and what building
and each run of the tests said (`*.log`).
Lua's own tests are in no package of their own in Debian: those of 5.1 come with another
implementation of Lua, and `lua5.1` runs each of their files; 5.4 runs those of LPeg, a shared
library that moves too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.layout_project_recipes import PROJECTS, Project
from steelyard.suite.fetch.apt_directory import AptDirectory
from steelyard.suite.suite_cache import SuiteCache

# The build, what moves, and how often; the first is what the others are compared with.
TREATMENTS = (
    ("plain", "none", "off"),
    ("moving", "none", "off"),
    ("moving", "code,stack,heap", "500ms"),
    ("moving", "code,stack,heap", "5ms"),
    ("moving", "blocks,stack,heap", "5ms"),
)
LONGEST_S = 3600


def fetch(project: Project, folder: Path) -> None:
    """Fetch and unpack what is not there, as the suite fetches its programs."""
    for package in project.packages:
        if not any(path.is_dir() for path in folder.glob(f"{package}-*")):
            fetch_source(package, folder)
    for package in project.upstream:
        if not any(folder.glob(f"{package}_*.orig.tar.*")):
            fetch_source(package, folder, "--download-only", "--tar-only")
        for archive in folder.glob(f"{package}_*.orig.tar.*"):
            subprocess.run(["tar", "-xf", archive.name], cwd=folder, check=True)


def fetch_source(package: str, folder: Path, *options: str) -> None:
    """A source package of Debian's, unpacked unless `options` say otherwise."""
    cache = SuiteCache()
    apt = AptDirectory(os.path.join(cache.root, "apt"))
    with cache.lock("apt"):
        if not apt.is_fresh():
            apt.update()
    words = ["source", "--only-source", "-qq", *options, package]
    subprocess.run([apt.apt, *apt.options(), *words], cwd=folder, check=True)


def environment(drivers: Path, build: str, parts: str, interval: str) -> dict[str, str]:
    """The compilers of a project, and what its programs do."""
    is_plain = build == "plain"
    return {
        **os.environ,
        "CC": "clang-19" if is_plain else str(drivers / "moving-cc"),
        "CXX": "clang++-19" if is_plain else str(drivers / "moving-c++"),
        "STEELYARD_LAYOUT": parts,
        "STEELYARD_LAYOUT_INTERVAL": interval,
    }


def run(script: str, folder: Path, variables: dict[str, str], log: Path) -> bool:
    """Whether a shell script ends well; what it says goes to the log."""
    with log.open("w") as output:
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_S,
            check=False,
        )
    return done.returncode == 0


def count_passed(project: Project, log: Path) -> int:
    """How many tests a log says to have passed."""
    text = log.read_text(errors="replace")
    found = re.finditer(project.passed, text, re.MULTILINE)
    return sum(int(match[1]) if match.lastindex else 1 for match in found)


def failed_tests(project: Project, log: Path) -> frozenset[str]:
    """The names of the tests that a log says to have failed."""
    text = log.read_text(errors="replace")
    return frozenset(re.findall(project.failed, text, re.MULTILINE) if project.failed else ())


def build(name: str, sources: Path, drivers: Path, kind: str) -> Path:
    """The folder with the project built by plain clang or so that it moves; built once.

    Raises
    ------
    RuntimeError
        It cannot be built; the message names the log.
    """
    made = sources / name / kind
    if (made / "is-built").exists():
        return made
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    for unpacked in sorted(sources.joinpath(name).iterdir()):
        if unpacked.is_dir() and unpacked.name not in ("plain", "moving"):
            shutil.copytree(unpacked, made / unpacked.name, symlinks=True)
    log = sources / name / f"build-{kind}.log"
    variables = environment(drivers, kind, "none", "off")
    if not run(PROJECTS[name].build, made, variables, log):
        raise RuntimeError(f"{name} was not built: {log}")
    (made / "is-built").touch()
    return made


def check(name: str, sources: Path, drivers: Path) -> bool:
    """Build a project and run its tests with each treatment; whether as many pass with each."""
    project = PROJECTS[name]
    folder = sources / name
    folder.mkdir(parents=True, exist_ok=True)
    fetch(project, folder)
    expected: tuple[int, frozenset[str]] | None = None
    all_same = True
    for kind, parts, interval in TREATMENTS:
        made = build(name, sources, drivers, kind)
        log = folder / f"{kind}-{parts}@{interval}.log"
        began_s = time.monotonic()
        good = run(project.test, made, environment(drivers, kind, parts, interval), log)
        took_s = time.monotonic() - began_s
        failures = failed_tests(project, log)
        count = count_passed(project, log) - len(failures)
        expected = expected or (count, failures)
        same = count > 0 and expected == (count, failures) and (good or bool(failures))
        also = f", {len(failures)} fail" if failures else ""
        said = f"passed {count}{also}" if same else f"passed {count}{also}; not the same: {log}"
        print(f"{name:10} {kind:6} {parts:18} {interval:6} {said} in {took_s:.0f} s", flush=True)
        all_same &= same
    return all_same


def check_or_say(name: str, sources: Path, drivers: Path) -> bool:
    """The same; what cannot be built or does not end is said."""
    try:
        return check(name, sources, drivers)
    except (RuntimeError, subprocess.SubprocessError) as error:
        print(error, flush=True)
        return False


def main() -> int:
    """Check the named projects, or all."""
    parser = argparse.ArgumentParser(description="Do projects' own tests pass when they move?")
    parser.add_argument("folder", type=Path)
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help=", ".join(PROJECTS))
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        drivers = Path(place)
        for language in ("cc", "c++"):
            driver = drivers / f"moving-{language}"
            driver.write_text(
                f'#!/bin/sh\nexec {sys.executable} -m steelyard.cli.main {language} "$@"\n'
            )
            driver.chmod(0o755)
        sources = wanted.folder.resolve()
        results = [check_or_say(name, sources, drivers) for name in wanted.projects or PROJECTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
