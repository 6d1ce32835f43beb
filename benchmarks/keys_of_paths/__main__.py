"""How many call paths heights of the stack tell: as it is, with larger frames, and with wrappers.

    python -m benchmarks.keys_of_paths [--folder FOLDER] [--setups N] [--tables] [NAME ...]

Programs of the suite in C and C++, built by gcc -O2, as in Mytkowicz 2010, tables 5.1 to 5.3 and
figures 5.2 and 5.6 to 5.12. Paths are learnt of the input `train`; offline they are judged by
themselves, online by those of the input `ref`, and by samples of it. Frames are made larger where
they can grow in the finished program, and calls wrapped where they can be. That program is written,
and its own paths are learnt and judged. Instructions are counted by callgrind (`test`): they bound
how often wrappers are passed. What was measured is kept in FOLDER, a file a program.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.keys_of_paths.changed_program import measured
from benchmarks.keys_of_paths.key_figures import draw_all
from benchmarks.keys_of_paths.key_record import KINDS, KeyRecord, Rules, read_record, write_record
from benchmarks.keys_of_paths.key_tables import (
    cost_tables,
    resolving,
    sample_table,
    share_table,
    verdict,
    verdict_lines,
)
from benchmarks.path_learning import PROGRAMS
from steelyard.analysis.paths.resizing import BUDGET_RATIO
from steelyard.core.errors import SteelyardError
from steelyard.suite.recipe import SIZES

_FOLDER, _SETUPS, _GOAL = os.path.join("build", "keys-of-paths"), 10, 0.99


def records(names: Sequence[str], folder: str, rules: Rules, measures: bool) -> list[KeyRecord]:
    """What is known of the programs; what is not yet is measured, if it is asked for."""
    found: list[KeyRecord] = []
    for name in names:
        record = read_record(folder, name)
        if (record is None or not record.rules.cover(rules)) and measures:
            record = _measured(name, folder, rules)
        if record is not None:
            found.append(record)
    return found


def _measured(name: str, folder: str, rules: Rules) -> KeyRecord | None:
    began = time.monotonic()
    try:
        record = measured(name, folder, rules)
    except (SteelyardError, subprocess.SubprocessError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        print(f"{name} is left out: {reason}", file=sys.stderr, flush=True)
        return None
    write_record(record, folder)
    print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return record


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables and draw the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", default=_FOLDER)
    parser.add_argument("--budget", type=float, default=BUDGET_RATIO)
    parser.add_argument("--goal", type=float, default=_GOAL)
    parser.add_argument("--setups", type=int, default=_SETUPS)
    parser.add_argument("--learn", choices=SIZES, default="train")
    parser.add_argument("--judge", choices=SIZES, default="ref")
    parser.add_argument("--tables", action="store_true", help="show what was measured before")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    folder = os.path.abspath(given.folder)
    os.makedirs(folder, exist_ok=True)
    rules = Rules(given.budget, given.goal, given.setups, given.learn, given.judge)
    found = records(given.programs, folder, rules, not given.tables)
    if not found:
        print("Nothing was measured.", file=sys.stderr)
        return 1
    few = resolving(found)
    parts = [cost_tables(found), *(share_table(found, kind) for kind in KINDS), sample_table(found)]
    parts.append(verdict_lines(f"All {len(found)} programs", found))
    if few and len(few) < len(found):
        parts.append(verdict_lines(f"The {len(few)} without the recursive ones", few))
    print("\n\n".join("\n".join(part) for part in parts))
    print(f"\nfigures: {', '.join(draw_all(found, folder))}")
    missed = [asked for asked, (_, holds) in verdict(found).items() if not holds]
    print(f"DOES NOT HOLD for all: {', '.join(missed)}" if missed else "holds")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
