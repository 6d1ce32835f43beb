"""One simulated experiment through the functions that answer a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.prove.proof_page import is_above, is_below
from steelyard.analysis.comparison.comparison_cautions import (
    dependence_cautions,
    shape_cautions,
    suspicion_cautions,
)
from steelyard.analysis.comparison.experiment_intervals import Inference, block_correlation
from steelyard.analysis.comparison.unit_values import TopLevel
from steelyard.analysis.intervals.paired_ratio import is_dependent
from steelyard.analysis.tests.independence import independence
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.experiment_results import Experiment, StopReason
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.stopping_spec import StoppingSpec

# What is asked of a 95 % interval.
LOWEST, HIGHEST = 0.94, 0.96
# What has no bounds, or is far too wide, holds the truth always: neither proves anything. Of clean
# normal values intervals hold in no more, and of all others so many may lack bounds.
HIGHEST_CLEAN, MOST_UNBOUNDED = 0.975, 0.01
# A caution counts only where it distinguishes: this share of the answers that fail carries one,
# and of clean normal ones at most that share does. `few-blocks` is given to all, and so to none.
WARNED_FAILING, WARNED_CLEAN = 0.8, 0.1
CLEAN = ("normal 5 %", "none")
# Student's interval of few skewed values, and of few that are one of two; docs/STATISTICS.md has
# these floors, which a proof holds.
STATED: dict[tuple[str, str, int], float] = {
    ("mean", "lognormal 50 %", 10): 0.91,
    ("mean", "lognormal 50 %", 20): 0.92,
    ("mean", "lognormal 50 %", 30): 0.925,
    ("mean", "lognormal 50 %", 100): 0.935,
    ("mean", "lognormal 20 %", 10): 0.935,
    ("mean", "bimodal 50/50", 10): 0.93,
    ("mean", "bimodal 80/20", 20): 0.92,
    ("mean", "bimodal 80/20", 30): 0.925,
}


# The rest is shown for what it is: not what the tool says or does.
CLAIMED = ("mean", "ratio", "3 ratios", "answer")


@dataclass
class Tally:
    """How often intervals held the truth in one simulated situation.

    Parameters
    ----------
    quantity : str
        ``mean`` or ``ratio`` or ``ratios`` (all of them at once), or ``answer``: the ratio, with
        the cautions about everything that the answer tells.
    situation : tuple of str
        What was simulated, for the table.
    """

    quantity: str
    situation: tuple[str, ...]
    count: int = 0
    covered: int = 0
    covered_seen: int = 0
    warned: int = 0
    covered_unwarned: int = 0
    failing_warned: int = 0
    blocks: int = 0
    unbounded: int = 0

    def add(
        self, covers: bool, warned: bool, blocks: int, *, seen: bool = False, bounded: bool = True
    ) -> None:
        """Takes one experiment; `seen`: whether a mean's interval holds that of the kinds of run
        that were seen."""
        self.unbounded += not bounded
        self.count += 1
        self.covered += covers
        self.covered_seen += seen
        self.warned += warned
        self.covered_unwarned += covers and not warned
        self.failing_warned += warned and not covers
        self.blocks += blocks

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth."""
        return self.covered / self.count

    @property
    def seen_coverage(self) -> float | None:
        """The share of a mean's intervals that hold the mean of the kinds of run that were seen;
        None of other quantities."""
        return self.covered_seen / self.count if self.quantity == "mean" else None

    @property
    def warned_share(self) -> float:
        """The share of answers with a caution about the interval."""
        return self.warned / self.count

    @property
    def unwarned_coverage(self) -> float | None:
        """The coverage among the answers without a caution; None for fewer than 200."""
        count = self.count - self.warned
        return self.covered_unwarned / count if count >= 200 else None

    @property
    def status(self) -> str:
        """``held`` within 94-96 %, or ``wide`` above; else ``warned``, ``seen``, ``stated``,
        ``FAILED`` or ``short``, each beyond chance alone (`page.is_below`).

        ``seen``: it holds for the mean of the kinds of run that were seen, which is what the answer
        says that it is.
        ``warned``: of the answers that fail at least 80 % carry a caution that distinguishes.
        ``stated``: above the floor that the documentation states for it.
        ``short``: as ``FAILED``, of a quantity for which the tool makes no claim.
        ``noisy``: clean normal values are warned of too often.
        """
        clean = self.situation[:2] == CLEAN
        if self.quantity in CLAIMED and self._proves_nothing(clean):
            return "FAILED"
        if clean and is_above(self.warned, self.count, WARNED_CLEAN):
            return "FAILED" if self.quantity in CLAIMED else "noisy"
        if is_above(self.covered, self.count, HIGHEST):
            return "wide"
        if not is_below(self.covered, self.count, LOWEST):
            return "held"
        if not is_below(self.failing_warned, self.count - self.covered, WARNED_FAILING):
            return "warned"
        if self.quantity == "mean" and not is_below(self.covered_seen, self.count, LOWEST):
            return "seen"
        if not is_below(self.covered, self.count, self._stated):
            return "stated"
        return "FAILED" if self.quantity in CLAIMED else "short"

    def _proves_nothing(self, clean: bool) -> bool:
        """Whether intervals hold because they have no bounds, or reach too far."""
        too_wide = clean and is_above(self.covered, self.count, HIGHEST_CLEAN)
        return too_wide or is_above(self.unbounded, self.count, MOST_UNBOUNDED)

    @property
    def _stated(self) -> float:
        """The floor that is stated; 1 where none is."""
        population, _, blocks = self.situation
        return STATED.get((self.quantity, population, int(blocks)), 1.0)


def inference(
    variant_count: int,
    stopping: StoppingSpec | None = None,
    method: str = "fieller",
    stopped: StopReason | None = None,
) -> Inference:
    """The tool's own intervals for a plain experiment, which `stopping` ended where given."""
    variants = tuple(Variant(f"v{i}", LaunchSpec(("true",))) for i in range(variant_count))
    spec = ExperimentSpec(
        identifier="PROOF",
        kind="comparison" if variant_count > 1 else "measurement",
        variants=variants,
        metrics=(MetricSpec("wall_time", "s"),),
        seed=1,
        stopping=stopping or StoppingSpec(runs=1),
        method=method,
    )
    ended = stopped or ("precision" if stopping else "runs")
    return Inference(Experiment(spec, {}, 0.0, (), ended))


def top_levels(columns: Sequence[Sequence[float]]) -> list[TopLevel]:
    """Values of each variant as the top repetition level of an experiment in blocks."""
    return [TopLevel(tuple(column), tuple(range(len(column)))) for column in columns]


def is_bounded(interval: Interval) -> bool:
    """Whether the interval says anything."""
    return isinstance(interval, Estimate)


def covers(interval: Interval, truth: float) -> bool:
    """Whether the interval holds the truth; one without bounds does."""
    return not isinstance(interval, Estimate) or interval.low <= truth <= interval.high


def sequences(levels: Sequence[TopLevel]) -> int:
    """How many sequences of values an answer looks at: means, and ratios to the first."""
    return 2 * len(levels) - 1


def judge_mean(
    tool: Inference, levels: Sequence[TopLevel], place: int = 0
) -> tuple[Interval, bool]:
    """The interval of a variant's mean, and whether the answer warns of it."""
    values, among = levels[place].values, sequences(levels)
    found = independence(values)
    others = [level for index, level in enumerate(levels) if index != place]
    moves = block_correlation(levels[place], others) is not None
    warned = (
        moves
        or any(shape_cautions("", values, among))
        or any(dependence_cautions("", found, len(values), among))
        or any(suspicion_cautions("", values, among))
    )
    return tool.mean(values, moves or is_dependent(found)), warned


def judge_ratios(tool: Inference, levels: Sequence[TopLevel]) -> tuple[list[Interval], bool]:
    """The interval of every ratio, and whether the answer warns of any."""
    ratios, among = tool.ratios(levels), sequences(levels)
    warned = any(
        any(shape_cautions("", ratio.contrasts, among))
        or any(dependence_cautions("", ratio.independence, ratio.block_count, among))
        or any(suspicion_cautions("", ratio.contrasts, among))
        for ratio in ratios
    )
    return [ratio.interval for ratio in ratios], warned
