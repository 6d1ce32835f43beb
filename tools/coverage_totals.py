#!/usr/bin/env python3
"""Print how many lines and branches ran, by room, and the files that lack most.

    .venv/bin/python tools/coverage_totals.py build/coverage/coverage.json

Reads what `coverage json` wrote. The exit status is 1 below the least that is wanted.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

LEAST_LINES_RATIO = 0.90
LEAST_BRANCHES_RATIO = 0.85
# The files that lack most come first; more would be read by nobody.
SHOWN_FILES = 25


def ratio(covered: float, of: float) -> float:
    """How much of it; of nothing all."""
    return covered / of if of else 1.0


def by_room(files: dict[str, Any]) -> dict[str, list[int]]:
    """Lines run, lines, branches taken and branches of each room.

    Where nothing of the package ran, nothing is said of branches.
    """
    names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
    rooms: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for path, file in files.items():
        parts = Path(path).parts
        room = parts[parts.index("steelyard") + 1].removesuffix(".py")
        rooms[room] = [
            a + file["summary"].get(n, 0) for a, n in zip(rooms[room], names, strict=True)
        ]
    return dict(sorted(rooms.items()))


def lacking(files: dict[str, Any]) -> list[tuple[int, str]]:
    """Files by the lines and branches that nothing ran, most first."""
    found = [
        (file["summary"]["missing_lines"] + file["summary"].get("missing_branches", 0), path)
        for path, file in files.items()
    ]
    return sorted(found, reverse=True)


def main() -> int:
    """Print the tables; 1 where too little ran."""
    report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for count, path in lacking(report["files"])[:SHOWN_FILES]:
        print(f"{count:5} lines and branches lack in {path}")
    print(f"{'room':12} {'lines':>8} {'branches':>8}")
    rooms = by_room(report["files"])
    whole = [sum(column) for column in zip(*rooms.values(), strict=True)]
    for room, (lines, of_lines, branches, of_branches) in {**rooms, "all": whole}.items():
        told = ratio(lines, of_lines), ratio(branches, of_branches)
        print(f"{room:12} {told[0]:8.1%} {told[1]:8.1%}")
    lines_ratio, branches_ratio = ratio(*whole[:2]), ratio(*whole[2:])
    if lines_ratio >= LEAST_LINES_RATIO and branches_ratio >= LEAST_BRANCHES_RATIO:
        return 0
    print(f"wanted: {LEAST_LINES_RATIO:.0%} of lines, {LEAST_BRANCHES_RATIO:.0%} of branches")
    return 1


if __name__ == "__main__":
    sys.exit(main())
