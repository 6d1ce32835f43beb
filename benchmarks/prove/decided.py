"""Proves verdicts of experiments that run until they are decided, and that are gone on with.

    python -m benchmarks.prove.decided [--experiments N] [--no-docs]

Every experiment follows the tool's own rule, block by block: it ends when its verdict is decided
or its budget is used up; while undecided it is resumed, up to ten times, with a further budget.
The truths are equal programs, a difference inside the margin, one at its end, and one of twice the
margin. Exit status 1 where the final interval holds less often than 94.5 %, `faster` or `slower`
is said wrongly more often than 5 %, or fewer than 90 % are decided rightly within 1.25 times
the blocks that the rule needs in theory.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from benchmarks.prove.deciding import (
    CONFIDENCE,
    MARGIN,
    decided_at,
    end_of,
    held_to_the_real_rule,
    independent_interval,
)
from benchmarks.prove.judging import covers, inference, top_levels
from benchmarks.prove.proof_page import Proof, is_above, is_below, prove, table
from benchmarks.prove.stopped import twin_stops
from steelyard.analysis.comparison.ratio_verdict import decide
from steelyard.analysis.comparison.stopping import Stopping
from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.intervals.autoregression import FEWEST_BLOCKS
from steelyard.analysis.intervals.error_spending import (
    SEQUENCE_SHARE,
    sequence_quantile,
    spending_of,
)
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import StopReason
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import PastLook, StoppingSpec

EXPERIMENTS = 10_000
MOST_RESUMES = 10
# An answer that cannot be decided is not made.
WELL_INSIDE = 0.98
# Experiments that are compared with the tool's own rule, block by block.
CHECKED_AGAINST_REAL = 5
LOWEST_COVERAGE, MOST_WRONG, LEAST_RIGHT = 0.945, 0.05, 0.90
MOST_BLOCKS_OVER_THEORY = 1.25
NOISES = (0.01, 0.02, 0.03, 0.05)
TRUTHS = (1.0, 1.005, 1.01, 1.02)
# Blocks that a user gives each time, as a share of what theory needs: looks that come early, and
# that come about when the verdict is due.
BUDGETS = (0.1, 0.5)
RIGHT = {1.0: "equivalent", 1.02: "slower"}


@dataclass(frozen=True)
class Situation:
    """How programs differ and vary, and how the user goes on.

    Parameters
    ----------
    noise : float
        Coefficient of variation of each program.
    truth : float
        The true ratio.
    first : str
        What ends the first session: ``decided`` (or its budget), ``runs``, ``precision``; or the
        user, who interrupts a fixed number of runs to look at it: ``interrupted``.
    budget : float
        Blocks of each session over those that theory needs.
    """

    noise: float
    truth: float
    first: str
    budget: float


@dataclass
class Outcome:
    """What became of the experiments of one situation."""

    situation: Situation
    count: int = 0
    covered: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    within: int = 0
    blocks: list[int] = field(default_factory=list)
    resumes: list[int] = field(default_factory=list)

    @property
    def coverage(self) -> float:
        """The share of final intervals that hold the truth."""
        return self.covered / self.count

    @property
    def wrong(self) -> float:
        """The share called faster or slower without being so by more than the margin."""
        truth = self.situation.truth
        words = [word for word in ("faster", "slower") if word != RIGHT.get(truth)]
        return sum(self.verdicts[word] for word in words) / self.count

    @property
    def right(self) -> float | None:
        """The share decided rightly within 1.25 times the blocks of theory; None where no verdict
        is due: on the end of the margin, and inside it, where it takes as long as it is near."""
        return self.within / self.count if self.situation.truth in RIGHT else None

    def problems(self) -> Iterator[str]:
        """The promises that are not kept, beyond chance."""
        where = f"{self.situation}:"
        if is_below(self.covered, self.count, LOWEST_COVERAGE):
            yield f"{where} covers {100 * self.coverage:.1f} %"
        if is_above(round(self.wrong * self.count), self.count, MOST_WRONG):
            yield f"{where} {100 * self.wrong:.1f} % wrong verdicts"
        by_itself = self.situation.first == "decided" and self.situation.budget >= min(BUDGETS)
        in_time = is_below(self.within, self.count, LEAST_RIGHT)
        if by_itself and self.right is not None and in_time:
            yield f"{where} only {100 * self.right:.1f} % decided in time"


def theory_blocks(noise: float, truth: float) -> int:
    """Blocks at which the rule decides rightly in 90 of 100, were the variance known.

    The interval of the confidence sequence, ``q(n) s / sqrt(n)`` on each side of a normal
    estimate, lies within the margin (both ends: the estimate within z(0.95) of 1) or beyond it
    (one end: z(0.90)).
    """
    deviation = noise * sqrt(1.0 + truth * truth)
    distance = abs(abs(truth - 1.0) - MARGIN)
    distance = distance if distance > MARGIN / 10 else MARGIN
    power = normal_quantile(0.95 if truth == 1.0 else 0.90)
    each = 1.0 - SEQUENCE_SHARE * (1.0 - CONFIDENCE)
    count = 10
    while (sequence_quantile(each, count) + power) * deviation / sqrt(count) > distance:
        count += 1
    return count


def session_blocks(situation: Situation) -> int:
    """Blocks of each session: a share of what equal programs need, for nobody knows the truth."""
    return max(12, round(situation.budget * theory_blocks(situation.noise, 1.0)))


def situations() -> Iterator[Situation]:
    """Everything that is simulated."""
    for noise in NOISES:
        for truth in TRUTHS:
            for budget in BUDGETS:
                yield Situation(noise, truth, "decided", budget)
    for first in ("runs", "precision", "interrupted"):
        for truth in TRUTHS:
            yield Situation(0.02, truth, first, 0.1)


def simulate(situation: Situation, experiments: int) -> Outcome:
    """Many experiments that are gone on with until they are decided."""
    generator = np.random.default_rng(derive_seed(1, "decided", repr(situation)))
    outcome = Outcome(situation)
    theory = theory_blocks(situation.noise, situation.truth)
    session = session_blocks(situation)
    in_time = round(MOST_BLOCKS_OVER_THEORY * theory)
    longest = (MOST_RESUMES + 1) * session
    for number in range(experiments):
        values = 1.0 + situation.noise * generator.standard_normal((2, longest))
        values[1] *= situation.truth
        course = Course(situation, values, session, number < CHECKED_AGAINST_REAL)
        interval, count, resumes = course.run()
        word = decide(interval, MARGIN, "lower")
        outcome.count += 1
        outcome.covered += covers(interval, situation.truth)
        outcome.verdicts[word] += 1
        outcome.within += word == RIGHT.get(situation.truth) and count <= in_time
        outcome.blocks.append(count)
        outcome.resumes.append(resumes)
    return outcome


class Course:
    """One experiment from its start to its last session."""

    def __init__(
        self, situation: Situation, values: np.ndarray, session: int, checked: bool
    ) -> None:
        self.situation = situation
        self._columns = values
        self._session = session
        self._checked = checked

    def run(self) -> tuple[Interval, int, int]:
        """The final interval, the blocks that it took, and how often it was gone on with."""
        looks: tuple[PastLook, ...] = ()
        count = 0
        spec = self._first()
        decided = None
        for resumes in range(MOST_RESUMES + 1):
            limit = count + self._session
            if spec.rule == "decided" and (decided is None or resumes == 1):
                decided = decided_at(self._columns, spec)
            stopped, count = self._to_the_end(spec, limit, count, decided)
            undecided = self._stays_undecided(spec, stopped, count)
            last = resumes == MOST_RESUMES
            if undecided and last and stopped != "runs":
                return independent_interval(self._columns[:, :count], spec), count, resumes
            if last or not undecided:
                interval = self._interval(spec, stopped, count)
                if last or decide(interval, MARGIN, "lower") != "undecided":
                    return interval, count, resumes
            if stopped != "interrupted":
                looks = (*looks, PastLook(count, spec.rule))
                spec = StoppingSpec(until="decided", looks=looks)
        raise AssertionError("the last session returns")

    def _first(self) -> StoppingSpec:
        if self.situation.first == "runs":
            return StoppingSpec(runs=self._session)
        if self.situation.first == "interrupted":
            return StoppingSpec(runs=self._session * (MOST_RESUMES + 1))
        if self.situation.first == "precision":
            wanted = 2.0 * self.situation.noise * sqrt(2.0 / self._session)
            return StoppingSpec(precision_ratio=wanted)
        return StoppingSpec(until="decided")

    def _to_the_end(
        self, spec: StoppingSpec, limit: int, start: int, decided: np.ndarray | None
    ) -> tuple[StopReason, int]:
        if spec.runs is not None:
            return "runs" if limit >= spec.runs else "interrupted", limit
        columns = self._columns[:, :limit]
        if decided is None:
            stop = int(twin_stops(columns[:, None, :], spec, spending_of(spec, "precision"))[0])
            return ("precision", stop) if stop < limit else self._by_precision(spec, columns)
        end = end_of(columns, spec, start, decided)
        if self._checked:
            held_to_the_real_rule(columns, spec, start, end)
        return ("budget", limit) if end is None else ("decided", end)

    def _by_precision(self, spec: StoppingSpec, columns: np.ndarray) -> tuple[StopReason, int]:
        """Whether the last block of a session was precise enough, which the twin leaves open."""
        rule = Stopping(spec, 2, CONFIDENCE, MARGIN)
        for row in columns.T.tolist():
            rule.add_block(row)
        return ("precision" if rule.look().done else "budget"), columns.shape[1]

    def _stays_undecided(self, spec: StoppingSpec, stopped: StopReason, count: int) -> bool:
        """Whether the answer is undecided for sure, so that it need not be made.

        From 20 blocks on an interval that allows for dependence is at least as wide as the one that
        does not, around the same ratio: where an end of the margin lies well inside that, it lies
        inside both. So is such an answer after the last resume, whose interval is then made as
        for independent blocks: the tool's is as wide or wider.
        """
        if stopped == "decided" or count < FEWEST_BLOCKS:
            return False
        spent = spending_of(spec, stopped)
        each = spent.confidence(CONFIDENCE)
        quantile = normal_quantile(two_sided(each))
        if spent.sequence:
            quantile = sequence_quantile(each, count)
        x, y = self._columns[:, :count]
        for end in (1.0 - MARGIN, 1.0 + MARGIN):
            contrasts = y - end * x
            error = contrasts.std(ddof=1) / sqrt(count)
            if abs(contrasts.mean()) < WELL_INSIDE * quantile * error:
                return True
        return False

    def _interval(self, spec: StoppingSpec, stopped: StopReason, count: int) -> Interval:
        tool = inference(2, spec, stopped=stopped)
        levels = top_levels(self._columns[:, :count].tolist())
        return tool.ratios(levels)[0].interval


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    header = (
        *("noise %", "true ratio", "first session", "blocks a session", "coverage %"),
        *("wrong %", "equivalent %", "faster %", "slower %", "undecided %"),
        *("median blocks", "90 % of blocks", "theory", "right in time %", "median resumes"),
    )
    title = f"### Until decided, resumed up to {MOST_RESUMES} times, {experiments} experiments each"
    return [title, "", *table(header, map(_row, outcomes)), ""]


def _row(outcome: Outcome) -> Sequence[str]:
    asked = outcome.situation
    theory = theory_blocks(asked.noise, asked.truth)
    words = ("equivalent", "faster", "slower", "undecided")
    shares = [f"{100 * outcome.verdicts[word] / outcome.count:.1f}" for word in words]
    right = "–" if outcome.right is None else f"{100 * outcome.right:.1f}"
    return (
        f"{100 * asked.noise:g}",
        f"{asked.truth:g}",
        asked.first,
        str(session_blocks(asked)),
        f"{100 * outcome.coverage:.1f}",
        f"{100 * outcome.wrong:.1f}",
        *shares,
        f"{np.median(outcome.blocks):.0f}",
        f"{np.quantile(outcome.blocks, 0.9):.0f}",
        str(theory) if asked.truth in RIGHT else "–",
        right,
        f"{np.median(outcome.resumes):.0f}",
    )


def main() -> int:
    """Simulates everything; the exit status."""
    return prove(
        Proof(
            module="benchmarks.prove.decided",
            description=__doc__ or "",
            section="prove-decided",
            experiments=EXPERIMENTS,
            situations=list(situations()),
            simulate=simulate,
            report=report,
            problems=Outcome.problems,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
