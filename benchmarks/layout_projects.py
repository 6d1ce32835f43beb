"""Do projects' own tests pass when they are built to move, and move every 5 ms?

Each project is built once, with `steelyard cc` and `steelyard c++` as its `CC` and `CXX`, and its
tests are run once with each treatment. FOLDER holds the unpacked sources of Debian's packages:

    cd FOLDER && apt-get source bzip2 libjsoncpp libzstd
    python -m benchmarks.layout_projects FOLDER [PROJECT...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

INTERVAL = "5ms"
TREATMENTS = ("none", "code,stack,heap", "blocks,stack,heap")
LONGEST_S = 3600


@dataclass(frozen=True)
class Project:
    """A project: the start of its folder's name, and how it is built and tested."""

    folder: str
    build: str
    test: str


PROJECTS = {
    "bzip2": Project("bzip2-", 'make CC="$CC" bzip2 bzip2recover', 'make CC="$CC" test'),
    "jsoncpp": Project(
        "libjsoncpp-",
        "cmake -S . -B moving -DCMAKE_BUILD_TYPE=Release -DBUILD_STATIC_LIBS=OFF"
        " -DBUILD_OBJECT_LIBS=OFF -DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF && make -C moving",
        "moving/bin/jsoncpp_test &&"
        ' python3 test/runjsontests.py "$PWD/moving/bin/jsontestrunner_exe" "$PWD/test/data"',
    ),
    "zstd": Project(
        "libzstd-",
        'make CC="$CC" zstd-release && make -C tests CC="$CC" fuzzer zstreamtest poolTests',
        "cd tests && ./fuzzer -v -T60s && ./zstreamtest -v -T60s && ./poolTests",
    ),
}


def environment(drivers: Path, treatment: str) -> dict[str, str]:
    """The compilers of a project, and what its programs do."""
    return {
        **os.environ,
        "CC": str(drivers / "moving-cc"),
        "CXX": str(drivers / "moving-c++"),
        "STEELYARD_LAYOUT": treatment,
        "STEELYARD_LAYOUT_INTERVAL": INTERVAL,
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


def check(name: str, sources: Path, drivers: Path) -> bool:
    """Build a project and run its tests with each treatment; whether all passed."""
    project = PROJECTS[name]
    folder = next(path for path in sorted(sources.glob(f"{project.folder}*")) if path.is_dir())
    log = sources / f"{name}.build.log"
    if not run(project.build, folder, environment(drivers, "none"), log):
        print(f"{name:10} was not built: {log}", flush=True)
        return False
    passed = True
    for treatment in TREATMENTS:
        log = sources / f"{name}.{treatment}.log"
        good = run(project.test, folder, environment(drivers, treatment), log)
        print(f"{name:10} {treatment:20} {'passed' if good else f'failed: {log}'}", flush=True)
        passed &= good
    return passed


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
        results = [check(name, sources, drivers) for name in wanted.projects or PROJECTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
