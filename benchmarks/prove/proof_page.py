"""The page that proofs write their tables into, and what those proofs have in common that simulate
one situation after the other."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from benchmarks.prove.fast import use_fast_tests

# A bound is broken only where an interval of 99.9 % of what was found excludes it.
CHANCE = 3.29
PAGE = Path(__file__).resolve().parents[2] / "docs" / "STATISTICS.md"


def write_section(name: str, lines: Sequence[str]) -> None:
    """Put lines between the marks of `name` in the page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + after, encoding="utf-8")


def read_section(name: str) -> list[str]:
    """The lines that stand between the marks of `name` now."""
    text = PAGE.read_text(encoding="utf-8")
    return text.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0].splitlines()


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _wilson(successes: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, J. Amer. Statist. Assoc. 22 (1927) 209, at 99.9 %."""
    share, square = successes / count, CHANCE * CHANCE / count
    middle = (share + square / 2.0) / (1.0 + square)
    reach = sqrt(share * (1.0 - share) * square + square * square / 4.0) / (1.0 + square)
    return middle - reach, middle + reach


def is_below(successes: int, count: int, bound: float) -> bool:
    """Whether a share is below a bound by more than chance: the bound lies above its interval."""
    return _wilson(successes, count)[1] < bound


def is_above(successes: int, count: int, bound: float) -> bool:
    """Whether a share is above a bound by more than chance."""
    return _wilson(successes, count)[0] > bound


@dataclass(frozen=True)
class Proof:
    """What is simulated, and what becomes of it.

    Parameters
    ----------
    module, description : str
        Of the command line.
    section : str
        The marks between which its tables stand.
    experiments : int
        Unless the command line says another number.
    situations : sequence
    simulate : callable
        From a situation and a number of experiments to an outcome.
    report : callable
        From outcomes and the number of experiments to the lines of the page.
    problems : callable
        From an outcome to the promises that it does not keep.
    """

    module: str
    description: str
    section: str
    experiments: int
    situations: Sequence[Any]
    simulate: Callable[[Any, int], Any]
    report: Callable[[Sequence[Any], int], list[str]]
    problems: Callable[[Any], Iterable[str]]


def prove(proof: Proof) -> int:
    """Simulate every situation on all CPUs, write the tables, and name the promises not kept; the
    exit status, 1 where there are any."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {proof.module}", description=proof.description
    )
    parser.add_argument("--experiments", type=int, default=proof.experiments)
    parser.add_argument("--no-docs", action="store_true", help="only print the tables")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    options = parser.parse_args()
    use_fast_tests()
    jobs = [(situation, options.experiments) for situation in proof.situations]
    with Pool(options.jobs) as pool:
        outcomes = pool.starmap(proof.simulate, jobs, chunksize=1)
    lines = proof.report(outcomes, options.experiments)
    print("\n".join(lines))
    if not options.no_docs:
        write_section(proof.section, lines)
    problems = [problem for outcome in outcomes for problem in proof.problems(outcome)]
    print("\n".join(problems) or "all promises kept")
    return 1 if problems else 0
