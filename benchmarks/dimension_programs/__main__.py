"""What dimensioning saves on real programs with harnesses inside, predicted and as it ran.

Each program of the suite is dimensioned from an initial experiment of 30 executions x 30
iterations. From its variances and costs come the counts, and the time that a half-width of 1 % of
the mean takes: with the chosen iterations in each execution, and with the fixed design. The fixed
one is never less than 30 x 30, and where that is wider than 1 %, as many more of its executions
as 1 % takes. Beside it stands one 30 x 30, however wide its interval, over the time to 1 % of the
chosen design: the same where 30 x 30 reaches 1 %, and elsewhere a comparison of unlike precision.

    .venv/bin/python -m benchmarks.dimension_programs

Then both designs really run, side by side: 30 blocks, each of one execution with 30 iterations and
one with the chosen count, in random order. Run one after the other they would see other minutes of
the machine, whose neighbours change its speed by more than what is compared. *As it ran* both times
come from these executions alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile

from benchmarks.dimension_programs.designs import Found
from benchmarks.dimension_programs.dimensioned_programs import PROGRAMS
from benchmarks.dimension_programs.program_designs import dimensioned, side_by_side
from benchmarks.dimension_programs.program_tables import judge, show, table


def main() -> None:
    """Dimension the programs and run what was chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [program.name for program in PROGRAMS]
    parser.add_argument("--only", choices=names, action="append")
    parser.add_argument("--keep", help="keep the store under this name")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-dimension-") as directory:
        store = options.keep or f"{directory}/store.sqlite"
        results: list[Found] = []
        for program in PROGRAMS:
            if options.only and program.name not in options.only:
                continue
            found = side_by_side(program, dimensioned(program, store), store)
            show(found)
            results.append(found)
    table(results)
    sys.exit(0 if judge(results) else 1)


if __name__ == "__main__":
    main()
