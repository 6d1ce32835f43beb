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
from functools import cached_property
from math import sqrt

import numpy as np

from benchmarks.prove.judging import covers, inference, top_levels
from benchmarks.prove.page import Proof, prove
from steelyard.analysis.error_spending import (
    AFTER_RUNS_SHARE,
    SEQUENCE_SHARE,
    sequence_quantile,
)
from steelyard.analysis.normal import normal_quantile
from steelyard.analysis.stopping import Stopping
from steelyard.analysis.verdict import decide
from steelyard.core.estimate import Interval
from steelyard.core.model import (
    StopReason,
)
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import PastLook, StoppingSpec

EXPERIMENTS = 10_000
CONFIDENCE, MARGIN = 0.95, 0.01
MOST_RESUMES = 10
_ENDS = (1.0 - MARGIN, 1.0 + MARGIN)
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
        What ends the first session: ``decided`` (or its budget), ``runs``, ``precision``.
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
        chance = 2.5 * sqrt(0.05 * 0.95 / self.count)
        where = f"{self.situation}:"
        if self.coverage < LOWEST_COVERAGE - chance:
            yield f"{where} covers {100 * self.coverage:.1f} %"
        if self.wrong > MOST_WRONG + chance:
            yield f"{where} {100 * self.wrong:.1f} % wrong verdicts"
        by_itself = self.situation.first == "decided" and self.situation.budget >= min(BUDGETS)
        if by_itself and self.right is not None and self.right < LEAST_RIGHT - chance:
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
    for first in ("runs", "precision"):
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
    for _ in range(experiments):
        values = 1.0 + situation.noise * generator.standard_normal((2, longest))
        values[1] *= situation.truth
        course = Course(situation, values, session)
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

    def __init__(self, situation: Situation, values: np.ndarray, session: int) -> None:
        self.situation = situation
        self._columns = values
        self._session = session

    def run(self) -> tuple[Interval, int, int]:
        """The final interval, the blocks that it took, and how often it was gone on with."""
        looks: tuple[PastLook, ...] = ()
        count = 0
        spec = self._first()
        for resumes in range(MOST_RESUMES + 1):
            limit = count + self._session
            stopped, count = self._to_the_end(spec, limit, count)
            interval = self._interval(spec, stopped, count)
            if decide(interval, MARGIN, "lower") != "undecided" or resumes == MOST_RESUMES:
                return interval, count, resumes
            looks = (*looks, PastLook(count, spec.rule))
            spec = StoppingSpec(until="decided", looks=looks)
        raise AssertionError("the last session returns")

    def _first(self) -> StoppingSpec:
        if self.situation.first == "runs":
            return StoppingSpec(runs=self._session)
        if self.situation.first == "precision":
            wanted = 2.0 * self.situation.noise * sqrt(2.0 / self._session)
            return StoppingSpec(precision_ratio=wanted)
        return StoppingSpec(until="decided")

    def _to_the_end(self, spec: StoppingSpec, limit: int, start: int) -> tuple[StopReason, int]:
        if spec.rule == "runs":
            return "runs", limit
        rule = Stopping(spec, 2, CONFIDENCE, MARGIN)
        promising = self._promising if spec.rule == "decided" else None
        for count, row in enumerate(self._columns[:, :limit].T.tolist(), start=1):
            rule.add_block(row)
            if count <= start or (promising is not None and not promising[count - 1]):
                continue
            if rule.look().done:
                return spec.rule, rule.block_count
        return "budget", limit

    @cached_property
    def _promising(self) -> list[bool]:
        """At which blocks the rule may end, so that it need not be asked after every one.

        By a confidence sequence that is a thousandth narrower than any that is used here, of the
        contrast at each end of the margin.
        """
        x, y = self._columns - 1.0
        counts = np.arange(1, len(x) + 1)
        share = AFTER_RUNS_SHARE if self.situation.first == "runs" else SEQUENCE_SHARE
        each = 1.0 - share * (1.0 - CONFIDENCE)
        quantiles = 0.999 * np.array([sequence_quantile(each, n) for n in counts.tolist()])
        sides = [self._beyond(y - theta * x + 1.0 - theta, quantiles) for theta in _ENDS]
        # An interval decides where it contains neither end of the margin.
        return (sides[0] & sides[1]).tolist()

    @staticmethod
    def _beyond(contrasts: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
        counts = np.arange(1, len(contrasts) + 1)
        means = contrasts.cumsum() / counts
        squares = (contrasts**2).cumsum() - counts * means**2
        errors = np.sqrt(np.maximum(squares, 0.0) / np.maximum(counts - 1, 1) / counts)
        with np.errstate(invalid="ignore"):  # Too few blocks have no quantile.
            return np.abs(means) > quantiles * errors

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
    lines = [
        f"### Until decided, resumed up to {MOST_RESUMES} times, {experiments} experiments each",
        "",
        f"| {' | '.join(header)} |",
        "|" + "---|" * len(header),
    ]
    return [*lines, *(_row(outcome) for outcome in outcomes), ""]


def _row(outcome: Outcome) -> str:
    asked = outcome.situation
    theory = theory_blocks(asked.noise, asked.truth)
    words = ("equivalent", "faster", "slower", "undecided")
    shares = [f"{100 * outcome.verdicts[word] / outcome.count:.1f}" for word in words]
    right = "–" if outcome.right is None else f"{100 * outcome.right:.1f}"
    cells = (
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
    return f"| {' | '.join(cells)} |"


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
