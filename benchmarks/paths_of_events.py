"""What a recorded event costs the program: without its call path, by a copy of its stack, by a map.

A program touches pages, 80 calls deep, and says how much processor time a page took, of its own and
of the kernel's for it. Each way is an event study, whose trials without recording tell what a page
costs by itself; ways take turns. `python -m benchmarks.paths_of_events [ROUNDS]`, as root, prints
the table.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

_PROGRAM = r"""
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#define FUNCTION __attribute__((noinline, noclone))
#define PAGES 20000L
FUNCTION void touch(char* memory) {
    for (long i = 0; i < PAGES; i++) memory[i * 4096] = 1;
    __asm__ volatile("");
}
FUNCTION void deep(int depth, char* memory) {
    volatile char room[256];
    room[0] = 1;
    if (depth) deep(depth - 1, memory); else touch(memory);
    __asm__ volatile("");
}
int main(void) {
    struct timespec first, last;
    int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    char* memory = mmap(0, PAGES * 4096, PROT_READ | PROT_WRITE, kind, -1, 0);
    madvise(memory, PAGES * 4096, MADV_NOHUGEPAGE);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &first);
    deep(80, memory);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &last);
    long ns = (last.tv_sec - first.tv_sec) * 1000000000 + last.tv_nsec - first.tv_nsec;
    printf("page %f\n", ns / 1e3 / PAGES);
    return 0;
}
"""
_STEELYARD = (sys.executable, "-m", "steelyard.cli.main")
_METRIC = "page=page ([0-9.]+):us"


def main() -> None:
    """Print what a page costs more by each way, with what became of its paths."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(prefix="event-paths-") as folder:
        program, path_map = _made(folder)
        ways = {"no paths": (), "--stacks": ("--stacks",), "--paths": ("--paths", path_map)}
        found: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, options in ways.items():
                found[way].append(_studied(program, options, folder))
    print("| way | us a page | us more than without recording | of events with a path | lost |")
    print("|---|---|---|---|---|")
    for way, documents in found.items():
        print(_row(way, documents))


def _made(folder: str) -> tuple[str, str]:
    program, source = os.path.join(folder, "pages"), os.path.join(folder, "pages.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(_PROGRAM)
    subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    path_map = os.path.join(folder, "pages.paths")
    learn = ("profile", "paths", "learn", "--output", path_map, "--", program)
    subprocess.run([*_STEELYARD, *learn], check=True, capture_output=True)
    return program, path_map


def _studied(program: str, options: tuple[str, ...], folder: str) -> dict[str, Any]:
    asked = ("--runs", "3", "--record", "faults", "--metric", _METRIC, *options, "--json", "-")
    told = subprocess.run(
        [*_STEELYARD, "experiment", "events", *asked, "--", program],
        env=os.environ | {"STEELYARD_STORE": os.path.join(folder, "store")},
        check=True,
        capture_output=True,
    )
    document: dict[str, Any] = json.loads(told.stdout)
    return document


def _row(way: str, documents: list[dict[str, Any]]) -> str:
    pages = [one["recorded_mean"] for one in documents]
    more = [one["recorded_mean"] - one["plain_mean"] for one in documents]
    count = sum(
        sum(kind["counts"])
        for one in documents
        for kind in one["kinds"]
        if kind["name"] == "page fault"
    )
    paths = [path for one in documents for path in one["paths"] or ()]
    known = sum(sum(path["counts"]) for path in paths if path.get("outcome") != "missing")
    lost = count - sum(sum(path["counts"]) for path in paths) if paths else 0
    return (
        f"| {way} | {statistics.median(pages):.2f} | {statistics.median(more):.2f} "
        f"({min(more):.2f} to {max(more):.2f}) | {known / count:.1%} | {lost / count:.1%} |"
    )


if __name__ == "__main__":
    main()
