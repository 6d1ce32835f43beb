"""How well are states told: on synthetic executions with a known truth, and on real ones?

    python -m benchmarks.states [DATA] [--each N] [--only real|synthetic] [--names b01,b02]
        [--half 1|2] [--no-docs]

DATA is a directory with `classification.json` and `series/*.csv.gz` as the collection of Traini
et al. has them (../shared/data/steady-state unless given; left out if it is not there), or a clone
of their replication package (github.com/SEALABQualityGroup/steady-state), of which the benchmarks
on which constants were calibrated are left out: agreement with their classification, for the
proposal and for the two rules that decide as they go, and the error of the mean that each choice
causes. Writes its tables into docs/STATISTICS.md. Fails if a bound is broken.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.states.bounds import Bound, lines
from benchmarks.states.published import benchmarks_of, published_bounds, published_tables
from benchmarks.states.published_states import benchmark_names, is_collection, labelled
from benchmarks.states.synthetic import (
    switching_tables,
    synthetic_bounds,
    synthetic_cases,
    synthetic_tables,
)
from benchmarks.states.wanderers import wanderer_tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "STATISTICS.md"
DATA = ROOT.parent / "shared" / "data" / "steady-state"
MARK = "<!-- states {}: {} -->"

Part = tuple[list[str], list[Bound]]


def write_docs(part: str, written: Sequence[str]) -> None:
    """Put the tables of a part into their place in the docs."""
    begin, end = MARK.format(part, "begin"), MARK.format(part, "end")
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(before + begin + "\n\n" + "\n".join(written) + "\n\n" + end + after, "utf-8")


def synthetic_part(each: int) -> Part:
    """Executions whose truth is known."""
    cases = synthetic_cases(each)
    switching, switching_bounds = switching_tables(5 * each)
    wanderers, wanderer_bounds = wanderer_tables(5 * each)
    bounds = [*synthetic_bounds(cases), *switching_bounds, *wanderer_bounds]
    tables = [*synthetic_tables(cases, each), "", *switching, "", *wanderers]
    return [*tables, "", "What has to hold:", "", *lines(bounds)], bounds


def real_part(data: Path, names: Sequence[str], half: int | None) -> Part:
    """Executions whose classification was published."""
    calibrated = benchmark_names(DATA) if is_collection(DATA) and _is_other(data) else set[str]()
    benchmarks = benchmarks_of(labelled(data, names, calibrated, half))
    bounds = published_bounds(benchmarks)
    return list(published_tables(benchmarks, bounds)), bounds


def _is_other(data: Path) -> bool:
    return data.resolve() != DATA.resolve()


def main() -> int:
    """Judge, print and write; 1 if a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--each", type=int, default=20, help="synthetic executions of each kind")
    parser.add_argument("--only", choices=("real", "synthetic"))
    parser.add_argument("--names", help="some of the real benchmarks only; not for the docs")
    parser.add_argument("--half", type=int, choices=(1, 2), help="half of the real benchmarks")
    parser.add_argument("--no-docs", action="store_true", help="only print the tables")
    options = parser.parse_args()
    names = options.names.split(",") if options.names else []
    parts: dict[str, Callable[[], Part]] = {
        "synthetic": lambda: synthetic_part(options.each),
        "real": lambda: real_part(options.data, names, options.half),
    }
    broken: list[Bound] = []
    for part, judge in parts.items():
        if options.only not in (None, part):
            continue
        if part == "real" and not is_collection(options.data):
            print(f"{options.data} is not there: nothing real to compare with.")
            continue
        written, bounds = judge()
        print("\n".join(written), end="\n\n")
        broken += [bound for bound in bounds if bound.broken]
        if not options.no_docs and not (part == "real" and names):
            other = part == "real" and _is_other(options.data)
            write_docs("held out" if other else part, written)
    for bound in broken:
        print(f"Broken: {bound.line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
