"""Whether the code of programs allows the call paths that they take, and what its search costs.

    python -m benchmarks.paths_of_code [--folder FOLDER] [NAME ...]

Programs of the suite in C and C++, built by gcc -O2; their paths are learnt of the input `test`.
Each learnt path is looked for among those that the code alone allows (Mytkowicz 2010, section
5.3.1). Then keys that are drawn of them are searched, once by the code alone. Maps that are in
FOLDER are used again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.keys_of_paths.changed_program import learnt_map
from benchmarks.path_learning import PROGRAMS, run_of
from steelyard.analysis.paths.path_map import NO_HEIGHT, PathMap
from steelyard.analysis.paths.static_truth import NO_CALL, OTHER_HEIGHT, StaticTruth
from steelyard.app.profile.static_paths import ProgramCode
from steelyard.core.errors import SteelyardError

KEYS, PATHS = 100, 16
LEAST_PROGRAMS, MOST_SEARCH_S = 15, 60
# What no library, signal or frame that varies explains.
UNEXPLAINED = frozenset({NO_CALL, OTHER_HEIGHT})


@dataclass(frozen=True)
class Searched:
    """What came of one program; times are of the processor."""

    name: str
    function_count: int
    truth: StaticTruth
    prepare_s: float
    all_keys_s: float
    one_path_count: int

    @property
    def unexplained_count(self) -> int:
        """Learnt paths that the code does not allow, without a reason outside of it."""
        return sum(count for why, count in self.truth.reasons if why in UNEXPLAINED)

    @property
    def holds(self) -> bool:
        """What is asked of a program."""
        return not self.unexplained_count and self.prepare_s + self.all_keys_s < MOST_SEARCH_S


def searched(name: str, folder: str) -> Searched:
    """Read a program, compare its learnt paths, and search keys of them."""
    path_map, program = learnt_map(name, "test", folder), run_of(name, "test").argv[0]
    before = time.process_time()
    code = ProgramCode(program, None)
    prepare_s = time.process_time() - before
    truth = code.truth(path_map)
    before = time.process_time()
    ones = 0
    for function, height in drawn_keys(path_map):
        found = code.allowed(function, height, PATHS)
        ones += found.are_all and len(found.paths) == 1
    spent_s = time.process_time() - before
    return Searched(name, len(code.graph.functions), truth, prepare_s, spent_s, ones)


def drawn_keys(path_map: PathMap) -> list[tuple[int, int]]:
    """So many different keys, or all."""
    keys = {(node.function, node.height_bytes) for node in path_map.nodes}
    known = sorted(key for key in keys if key[1] != NO_HEIGHT)
    return Random(1).sample(known, min(KEYS, len(known)))


def row(one: Searched) -> str:
    """A row of the table."""
    truth = one.truth
    others = "; ".join(f"{count:,}: {why}" for why, count in truth.reasons) or "–"
    share = 100 * truth.allowed_count / max(truth.path_count, 1)
    return (
        f"| {one.name} | {one.function_count:,} | {truth.path_count:,} | {share:.2f} % | {others} "
        f"| {one.prepare_s:.2f} | {one.all_keys_s:.2f} | {one.one_path_count} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    print("| program | functions | learnt paths | allowed | others | read, s | 100 keys, s | one |")
    print("|---|---|---|---|---|---|---|---|")
    found: list[Searched] = []
    with tempfile.TemporaryDirectory() as own:
        folder = given.folder or own
        os.makedirs(folder, exist_ok=True)
        for name in given.programs:
            try:
                one = searched(name, folder)
            except (SteelyardError, subprocess.SubprocessError) as error:
                print(f"| {name} | {str(error).splitlines()[0]} | | | | | | |", flush=True)
                continue
            found.append(one)
            print(row(one), flush=True)
    holds = len(found) >= LEAST_PROGRAMS and all(one.holds for one in found)
    print("\nholds" if holds else "\nDOES NOT HOLD")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
