"""Do projects' own tests pass when they are built to move, and move every 500 ms and every 5 ms?

Each project is built once, with `steelyard cc` and `steelyard c++` as its `CC` and `CXX`, and its
tests are run once with each treatment. What of Debian's sources is not in FOLDER yet is fetched
there, from the archives that apt is configured for:

    python -m benchmarks.layout_projects FOLDER [PROJECT...]

FOLDER/PROJECT then holds the sources, and what building and each run of the tests said (`*.log`).
Lua's own tests are in no package of their own in Debian: those of 5.1 come with another
implementation of Lua, and `lua5.1` runs each of their files; 5.4 runs those of LPeg, a shared
library that moves too.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from steelyard.suite.cache import SuiteCache
from steelyard.suite.fetch.apt_directory import AptDirectory

# What moves, and how often; the first is what the others are compared with.
TREATMENTS = (
    ("none", "off"),
    ("code,stack,heap", "500ms"),
    ("code,stack,heap", "5ms"),
    ("blocks,stack,heap", "5ms"),
)
LONGEST_S = 3600


@dataclass(frozen=True)
class Project:
    """A project: its packages, how it is built and tested, and how its log tells what passed.

    The scripts run in the folder that the packages are unpacked in. `passed` finds in the log
    either a number of tests (its group, summed) or one test (no group), `failed` the names of those
    that fail; with some that fail on a machine whatever moves, the others must still pass.
    """

    packages: tuple[str, ...]
    build: str
    test: str
    passed: str
    failed: str = ""
    # Of these only what upstream released, without Debian's changes.
    upstream: tuple[str, ...] = ()


PROJECTS = {
    "bzip2": Project(
        ("bzip2",),
        'cd bzip2-*/ && make CC="$CC" bzip2 bzip2recover',
        'cd bzip2-*/ && make CC="$CC" test',
        r"^cmp sample",
    ),
    "jsoncpp": Project(
        ("libjsoncpp",),
        "cd libjsoncpp-*/ && cmake -S . -B moving -DCMAKE_BUILD_TYPE=Release"
        " -DBUILD_STATIC_LIBS=OFF -DBUILD_OBJECT_LIBS=OFF -DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF"
        " && make -C moving",
        "cd libjsoncpp-*/ && moving/bin/jsoncpp_test &&"
        ' python3 test/runjsontests.py "$PWD/moving/bin/jsontestrunner_exe" "$PWD/test/data"',
        r"^(?:All (\d+) tests passed|TESTING: .* OK)",
    ),
    "zstd": Project(
        ("libzstd",),
        'cd libzstd-*/ && make CC="$CC" zstd-release &&'
        ' make -C tests CC="$CC" fuzzer zstreamtest poolTests datagen',
        "cd libzstd-*/tests && ./fuzzer -v -T20s && ./zstreamtest -v -T20s && ./poolTests &&"
        " python3 cli-tests/run.py --zstd=../programs/zstd --datagen=./datagen",
        r"^PASS: |^test *\d+ : .* OK|^(?:.*: )?[Tt]est *\d+ .*OK",
    ),
    "lua": Project(
        ("lua5.4", "lua-lpeg"),
        "cd lua5.4-*/ && echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.4-deb-multiarch.h"
        " && $CC -O2 -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -Wl,-E"
        " $(ls src/l*.c | grep -v luac.c) -lm -ldl -o lua && cd ../lua-lpeg-*/ &&"
        ' $CC -O2 -fPIC -shared -I"$(echo ../lua5.4-*/src)" lp*.c -o lpeg.so',
        "cd lua-lpeg-*/ && ../lua5.4-*/lua test.lua",
        r"^OK$",
    ),
    "lua5.1": Project(
        ("lua5.1",),
        "cd lua5.1-*/ && echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.1-deb-multiarch.h"
        " && $CC -O2 -DLUA_USE_POSIX -DLUA_USE_DLOPEN -Wl,-E"
        " $(ls src/l*.c | grep -v luac.c) -lm -ldl -o lua",
        "cd gopher-lua/_lua5.1-tests && mkdir -p libs/P1 && bad=0 && for file in *.lua; do"
        " case $file in all.lua|checktable.lua) continue;; esac;"
        " if LUA_PATH='?;./?.lua' ../../lua5.1-*/lua $file; then echo; echo \"$file: passed\";"
        ' else echo; echo "$file: failed"; bad=1; fi; done; [ $bad = 0 ]',
        r"^(?:\w+\.lua): (?:passed|failed)$",
        r"^(\w+\.lua): failed$",
        ("golang-github-yuin-gopher-lua",),
    ),
    "sqlite": Project(
        ("sqlite3",),
        'cd sqlite3-*/ && CFLAGS=-O2 ./configure --with-tcl="$(dirname "$(find /usr/lib -name'
        ' tclConfig.sh | head -n 1)")" && make testfixture',
        # Its tests refuse to be run by a superuser, who may read what they make unreadable.
        "cd sqlite3-*/ && rm -rf testdir && if [ $(id -u) = 0 ]; then chown -R nobody . &&"
        " as='setpriv --reuid nobody --clear-groups'; fi; $as ./testfixture test/veryquick.test",
        r"^\d+ errors out of (\d+) tests",
        r"^! (\S+) expected",
    ),
    "googletest": Project(
        ("googletest",),
        "cd googletest-*/ && cmake -S . -B moving -DCMAKE_BUILD_TYPE=Release"
        " -DCMAKE_CXX_FLAGS_RELEASE=-O2 -Dgtest_build_tests=ON -DBUILD_GMOCK=OFF"
        " && make -C moving",
        "cd googletest-*/moving && ctest --output-on-failure",
        r"Test +#\d+: .* Passed",
    ),
    "re2": Project(
        ("re2",),
        'cd re2-*/ && make CXX="$CXX" static obj/test/re2_test obj/test/search_test'
        " obj/test/parse_test obj/test/compile_test obj/test/set_test obj/test/dfa_test",
        "cd re2-*/ && ./runtests obj/test/re2_test obj/test/search_test obj/test/parse_test"
        " obj/test/compile_test obj/test/set_test obj/test/dfa_test",
        r"PASS$",
    ),
}


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


def environment(drivers: Path, parts: str, interval: str) -> dict[str, str]:
    """The compilers of a project, and what its programs do."""
    return {
        **os.environ,
        "CC": str(drivers / "moving-cc"),
        "CXX": str(drivers / "moving-c++"),
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


def check(name: str, sources: Path, drivers: Path) -> bool:
    """Build a project and run its tests with each treatment; whether all passed."""
    project = PROJECTS[name]
    folder = sources / name
    folder.mkdir(parents=True, exist_ok=True)
    fetch(project, folder)
    log = folder / "build.log"
    if not run(project.build, folder, environment(drivers, *TREATMENTS[0]), log):
        print(f"{name:10} was not built: {log}", flush=True)
        return False
    passed = True
    known: frozenset[str] = frozenset()
    for parts, interval in TREATMENTS:
        log = folder / f"{parts}@{interval}.log"
        began_s = time.monotonic()
        good = run(project.test, folder, environment(drivers, parts, interval), log)
        took_s = time.monotonic() - began_s
        failures = failed_tests(project, log)
        known = failures if parts == "none" else known
        good |= bool(failures) and failures == known
        as_ever = f", {len(failures)} fail whatever moves," if failures else ""
        count = count_passed(project, log) - len(failures)
        said = f"passed {count}{as_ever}" if good else f"failed: {log}"
        print(f"{name:10} {parts:18} {interval:6} {said} in {took_s:.0f} s", flush=True)
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
