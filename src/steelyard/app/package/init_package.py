"""Make a benchmark package that works at once."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

from steelyard.core.errors import UsageError
from steelyard.service.package.archive import Package, open_package

_SORT = """\
/* Sorts numbers that a seed makes; prints how long each round took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int ascending(const void *a, const void *b)
{
    const unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

int main(void)
{
    enum { COUNT = 1 << 18, ROUNDS = 5 };
    unsigned *numbers = malloc(COUNT * sizeof *numbers), state = 1;

    if (!numbers)
        return 1;
    puts("sort_s,rate (numbers/s)");
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin, end;
        for (int i = 0; i < COUNT; i++)
            numbers[i] = state = state * 1664525u + 1013904223u;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        qsort(numbers, COUNT, sizeof *numbers, ascending);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double s = (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9;
        printf("%.6f,%.0f\\n", s, COUNT / s);
    }
    free(numbers);
    return 0;
}
"""
_SORT_FILES = {
    "sort.c": _SORT,
    "setup.sh": "#!/bin/sh\n# Run once, before the first trial: build here.\nset -e\n"
    "cc $CFLAGS -o sort sort.c\n",
    "env": "# Variables that every script finds in its environment.\nCFLAGS=-O2\n",
    "run.sh": "#!/bin/sh\n# Run once a trial; this is what is timed.\nexec ./sort > results.csv\n",
}
_COLLECT = """\
#!/bin/sh
# Run after each trial: pack the results, print the archive's name and nothing else.
set -e
tar -czf results.tar.gz results.csv
echo results.tar.gz
"""
_OUTPUT_COLLECT = _COLLECT.replace("results.csv", "output.txt")


@dataclass(frozen=True)
class MadePackage:
    """The folder that was made, and the package in it."""

    folder: str
    package: Package


def init_package(folder: str, command: tuple[str, ...] = ()) -> MadePackage:
    """Make a package in a new folder: a small benchmark in C, or one that runs `command`.

    Parameters
    ----------
    command : tuple of str
        A program of the host's with its arguments; ``suite:NAME`` is none, since programs of the
        suite need no package.

    Raises
    ------
    UsageError
        The folder is there and not empty, or cannot be made.
    """
    if command and command[0].startswith("suite:"):
        raise UsageError(
            f"{command[0]!r} needs no package: name it in the experiment file as it is.",
            field="command",
        )
    _make_folder(folder)
    for name, text in _files(command).items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        if name.endswith(".sh"):
            os.chmod(path, 0o755)
    return MadePackage(folder, open_package(folder))


def _files(command: tuple[str, ...]) -> dict[str, str]:
    if not command:
        return {**_SORT_FILES, "collect.sh": _COLLECT}
    words = shlex.join(command)
    run = f"#!/bin/sh\n# Run once a trial; this is what is timed.\nexec {words} > output.txt\n"
    return {"run.sh": run, "collect.sh": _OUTPUT_COLLECT}


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder):
            raise UsageError(
                f"The folder {folder!r} is not empty, and a package is made in a new one.",
                field="folder",
            )
    except OSError as error:
        raise UsageError(
            f"The folder {folder!r} cannot be made: {error.strerror}.", field="folder"
        ) from None
