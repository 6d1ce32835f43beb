"""Proves the analyses of tables by simulation with a known truth.

    python -m benchmarks.prove.analysed [--experiments N] [--only METHOD] [--no-docs]

Every simulated table goes through the method as `steelyard analyze` calls it. Writes its table
into docs/STATISTICS.md; with --only the rows of that method. Exit status 1 where a promise is not
kept: where assumptions hold, intervals cover 94 to 96 % and tests raise 5 % of false alarms; where
they do not hold, most answers say so, and what the advice names covers.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pool

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.prove.known_tables import CONFIDENCE, Situation, situations
from benchmarks.prove.proof_page import is_above, is_below, read_section, write_section
from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.data_columns import Table
from steelyard.analysis.tables.table_analysis import Analysis
from steelyard.core.estimate import Estimate
from steelyard.core.rng import derive_seed

SECTION = "prove analyses"
EXPERIMENTS = 10_000
LOWEST, HIGHEST = 0.94, 0.96
# More is no proof: so hold intervals that are far too wide.
MOST_COVERED = 0.985
LEAST_ALARMS, MOST_ALARMS = 0.03, 0.06
# What has no bounds holds the truth always: so many of these may lack them, of others none.
UNBOUNDED = {"40 rows, quantile 0.9": 0.75}
MOST_UNBOUNDED = 0.01
# Of answers about data that break an assumption, those that must say so.
WARNED = 0.5


@dataclass(frozen=True)
class Outcome:
    """How often one quantity of one situation was right."""

    method: str
    situation: str
    holds: bool
    warns: str
    quantity: str
    share: float
    warned: float
    count: int
    is_test: bool
    unbounded: int = 0

    def problem(self) -> str | None:
        """What promise is not kept, beyond chance."""
        said = round(self.share * self.count)
        if self.holds and not self.is_test and is_below(said, self.count, LOWEST):
            return f"covers {100 * self.share:.1f} %"
        if not self.is_test and is_above(said, self.count, MOST_COVERED):
            return f"covers {100 * self.share:.1f} %, so that it says nothing"
        allowed = [most for name, most in UNBOUNDED.items() if self.situation.endswith(name)]
        if is_above(self.unbounded, self.count, max([MOST_UNBOUNDED, *allowed])):
            return f"{self.unbounded} intervals without bounds"
        if self.holds and self.is_test and is_above(said, self.count, MOST_ALARMS):
            return f"{100 * self.share:.1f} % false alarms"
        if self.holds and self.is_test and is_below(said, self.count, LEAST_ALARMS):
            return f"{100 * self.share:.1f} % false alarms, as a test that never rejects"
        if self.warns and self.warned < WARNED:
            return f"says in {100 * self.warned:.0f} % that {self.warns} fail"
        return None


def simulate(situation: Situation, experiments: int) -> list[Outcome]:
    """Many tables of one kind through the method."""
    generator = np.random.default_rng(derive_seed(1, "analysed", situation.name))
    method = ANALYSES.get(situation.method)
    count = max(200, experiments // situation.slow)
    covered = dict.fromkeys(situation.truths, 0)
    unbounded = dict.fromkeys(situation.truths, 0)
    alarms = dict.fromkeys(situation.tests, 0)
    warned = 0
    for _ in range(count):
        columns = {k: np.asarray(v, float) for k, v in situation.draw(generator).items()}
        table = Table("simulated", columns, range(len(columns["y"])))
        found = method.analyze(table, situation.question)
        assert isinstance(found, Analysis)
        warned += _warns(found, situation.warns)
        for key, truth in situation.truths.items():
            effect = next(e.effect for e in found.effects if (e.term, e.measure) == key)
            bounded = isinstance(effect, Estimate)
            covered[key] += not bounded or effect.low <= truth <= effect.high
            unbounded[key] += not bounded
        for name in situation.tests:
            alarms[name] += _p(found, name) < 1 - CONFIDENCE
    shares = [
        (f"{term}, {measure}", n, False, unbounded[term, measure])
        for (term, measure), n in covered.items()
    ]
    shares += [(f"test of {name}", n, True, 0) for name, n in alarms.items()]
    place = (situation.method, situation.name, situation.holds, situation.warns)
    return [
        Outcome(*place, quantity, n / count, warned / count, count, is_test, lacking)
        for quantity, n, is_test, lacking in shares
    ]


def _warns(found: Analysis, name: str) -> bool:
    return any(a.name == name and a.holds is False for a in found.assumptions)


def _p(found: Analysis, name: str) -> float:
    known = [t.p for t in found.tests if t.name == name]
    known += [s.p for s in found.sources if s.term == name]
    return next((p for p in known if p is not None), 1.0)


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    header = (
        "method",
        "situation",
        "quantity",
        "covered %",
        "false alarms %",
        "warned %",
        "status",
    )
    lines = [
        "",
        f"Up to {experiments} tables each; *warned*: the share of answers that call the broken",
        "assumption broken. `wide`: holds more often than it says.",
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
    ]
    for outcome in outcomes:
        share = f"{100 * outcome.share:.1f}"
        cells = (
            outcome.method,
            outcome.situation,
            outcome.quantity,
            "" if outcome.is_test else share,
            share if outcome.is_test else "",
            f"{100 * outcome.warned:.0f}" if outcome.warns else "",
            _status(outcome),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def _status(outcome: Outcome) -> str:
    if outcome.problem() is not None:
        return "FAILED"
    if not outcome.holds:
        return "warned"
    said = round(outcome.share * outcome.count)
    if outcome.unbounded:
        return f"held, {100 * outcome.unbounded / outcome.count:.1f} % without bounds"
    if not outcome.is_test and is_above(said, outcome.count, HIGHEST):
        return "wide"
    return "held"


def write(lines: Sequence[str], only: str) -> None:
    """Put the table, or the rows of one method, into its place in the docs."""
    if only:
        lines = with_rows_of(only, lines, read_section(SECTION))
    write_section(SECTION, lines)


def with_rows_of(method: str, new: Sequence[str], old: Sequence[str]) -> list[str]:
    """The old table with the new rows of one method."""
    order = list(dict.fromkeys(situation.method for situation in situations()))
    rows = {name: [row for row in old if row.startswith(f"| {name} |")] for name in order}
    rows[method] = [row for row in new if row.startswith(f"| {method} |")]
    head = [line for line in new if not line.startswith(f"| {method} |")]
    return [*head[:-1], *(row for name in order for row in rows[name]), head[-1]]


def main() -> int:
    """Runs every situation; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prove.analysed", description=__doc__
    )
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS)
    parser.add_argument("--no-docs", action="store_true", help="only print the table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="situations of this method")
    options = parser.parse_args()
    jobs = [
        (place, options.experiments)
        for place, situation in enumerate(situations())
        if options.only in ("", situation.method)
    ]
    with Pool(options.jobs) as pool:
        found = pool.starmap(_numbered, jobs, chunksize=1)
    outcomes = [outcome for part in found for outcome in part]
    lines = report(outcomes, options.experiments)
    print("\n".join(lines))
    if not options.no_docs:
        write(lines, options.only)
    problems = [
        f"{o.method}, {o.situation}, {o.quantity}: {problem}"
        for o in outcomes
        if (problem := o.problem()) is not None
    ]
    print("\n".join(problems) or "all promises kept")
    return 1 if problems else 0


def _numbered(place: int, experiments: int) -> list[Outcome]:
    """Situations hold functions, which do not travel between processes: they go by number."""
    return simulate(list(situations())[place], experiments)


if __name__ == "__main__":
    sys.exit(main())
