#!/usr/bin/env python3
"""Print how many lines and branches of each native part ran, and the files that lack most.

    .venv/bin/python tools/coverage_native_totals.py build/coverage-native/coverage.json

Reads what `llvm-cov export -summary-only` wrote.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[1] / "native"
# The files that lack most come first; more would be read by nobody.
SHOWN_FILES = 15


def part_of(path: str) -> str:
    """The folder of the native part that a file is of."""
    parts = Path(path).relative_to(NATIVE).parts
    return "/".join(parts[:2]) if parts[0] == "layout" else parts[0]


def main() -> None:
    """Print the tables."""
    (whole,) = json.loads(Path(sys.argv[1]).read_text("utf-8"))["data"]
    names = (("lines", "covered"), ("lines", "count"), ("branches", "covered"))
    parts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    lacking: list[tuple[int, str]] = []
    for file in whole["files"]:
        summary = file["summary"]
        counts = [summary[kind][name] for kind, name in (*names, ("branches", "count"))]
        for key in (part_of(file["filename"]), "all"):
            parts[key] = [a + b for a, b in zip(parts[key], counts, strict=True)]
        lacking.append((counts[1] - counts[0], str(Path(file["filename"]).relative_to(NATIVE))))
    for count, path in sorted(lacking, reverse=True)[:SHOWN_FILES]:
        print(f"{count:5} lines lack in {path}")
    print(f"{'part':18} {'lines':>14} {'branches':>14}")
    rest = parts.pop("all")
    for part, (lines, of_lines, branches, of_branches) in [*sorted(parts.items()), ("all", rest)]:
        shares = (
            f"{a / b:.1%}" if b else "-" for a, b in ((lines, of_lines), (branches, of_branches))
        )
        told, told_branches = shares
        print(f"{part:18} {told:>7} {of_lines:6} {told_branches:>7} {of_branches:6}")


if __name__ == "__main__":
    main()
