"""How well are states told: on synthetic executions with a known truth, and on real ones?

    python -m benchmarks.states [DATA] [--each N] [--only real|synthetic] [--names b01,b02]
        [--no-docs]

DATA is a directory with `classification.json` and `series/*.csv.gz` as the collection of Traini
et al. has them (../shared/data/steady-state unless given; left out if it is not there): agreement
with their classification, for the proposal and for the two rules that decide as they go, and the
error of the mean that each choice causes. Writes its tables into docs/STATISTICS.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.states.published import published_tables
from benchmarks.states.synthetic import synthetic_tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "STATISTICS.md"
DATA = ROOT.parent / "shared" / "data" / "steady-state"
MARK = "<!-- states {}: {} -->"


def write_docs(part: str, lines: Sequence[str]) -> None:
    """Put the tables of a part into their place in the docs."""
    begin, end = MARK.format(part, "begin"), MARK.format(part, "end")
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(before + begin + "\n\n" + "\n".join(lines) + "\n\n" + end + after, "utf-8")


def main() -> None:
    """Judge, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--each", type=int, default=20, help="synthetic executions of each kind")
    parser.add_argument("--only", choices=("real", "synthetic"))
    parser.add_argument("--names", help="some of the real benchmarks only; not for the docs")
    parser.add_argument("--no-docs", action="store_true", help="only print the tables")
    options = parser.parse_args()
    names = options.names.split(",") if options.names else []
    parts: dict[str, Callable[[], Iterable[str]]] = {
        "synthetic": lambda: synthetic_tables(options.each),
        "real": lambda: published_tables(options.data, names),
    }
    for part, tables in parts.items():
        if options.only not in (None, part):
            continue
        if part == "real" and not (options.data / "classification.json").is_file():
            print(f"{options.data} is not there: nothing real to compare with.")
            continue
        lines = list(tables())
        print("\n".join(lines), end="\n\n")
        if not options.no_docs and not (part == "real" and names):
            write_docs(part, lines)


if __name__ == "__main__":
    main()
