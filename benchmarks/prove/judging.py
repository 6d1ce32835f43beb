"""One simulated experiment through the functions that answer a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.cautions import (
    dependence_cautions,
    shape_cautions,
    suspicion_cautions,
)
from steelyard.analysis.independence import independence
from steelyard.analysis.inference import Inference, block_correlation
from steelyard.analysis.levels import TopLevel
from steelyard.analysis.paired_ratio import is_dependent
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.model import (
    Experiment,
    ExperimentSpec,
    LaunchSpec,
    MetricSpec,
    StoppingSpec,
    StopReason,
    Variant,
)

# What is asked of a 95 % interval.
LOWEST, HIGHEST = 0.94, 0.96
# A caution counts only where it distinguishes: this share of the answers that fail carries one,
# and of clean normal ones at most that share does. `few-blocks` is given to all, and so to none.
WARNED_FAILING, WARNED_CLEAN = 0.8, 0.1
CLEAN = ("normal 5 %", "none")
# Means of values whose rare kinds few runs have seen. No statistic of those runs can tell; the
# answer says so below 20 blocks, and docs/STATISTICS.md has these floors, which a proof holds.
STATED: dict[tuple[str, int], float] = {
    ("lognormal 50 %", 10): 0.91,
    ("lognormal 50 %", 30): 0.925,
    ("lognormal 50 %", 100): 0.935,
    ("lognormal 20 %", 10): 0.935,
    ("bimodal 50/50", 10): 0.93,
    ("bimodal 80/20", 10): 0.88,
    ("bimodal 80/20", 30): 0.925,
    ("5 % outliers", 10): 0.38,
    ("5 % outliers", 20): 0.57,
    ("lognormal 50 %", 20): 0.92,
    ("bimodal 80/20", 20): 0.92,
    ("5 % outliers", 30): 0.76,
    ("5 % outliers", 100): 0.92,
}


# The rest is shown for what it is: not what the tool says or does.
CLAIMED = ("mean", "ratio", "3 ratios")


@dataclass
class Tally:
    """How often intervals held the truth in one simulated situation.

    Parameters
    ----------
    quantity : str
        ``mean`` or ``ratio`` or ``ratios`` (all of them at once).
    situation : tuple of str
        What was simulated, for the table.
    """

    quantity: str
    situation: tuple[str, ...]
    count: int = 0
    covered: int = 0
    warned: int = 0
    covered_unwarned: int = 0
    failing_warned: int = 0
    blocks: int = 0

    def add(self, covers: bool, warned: bool, blocks: int) -> None:
        """Takes one experiment."""
        self.count += 1
        self.covered += covers
        self.warned += warned
        self.covered_unwarned += covers and not warned
        self.failing_warned += warned and not covers
        self.blocks += blocks

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth."""
        return self.covered / self.count

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
        """``held`` within 94-96 %, or ``wide`` above; else ``warned``, ``stated``, ``FAILED`` or
        ``short``.

        ``warned``: of the answers that fail at least 80 % carry a caution that distinguishes.
        ``stated``: above the floor that the documentation states for it.
        ``short``: as ``FAILED``, of a quantity for which the tool makes no claim.
        ``noisy``: clean normal values are warned of too often.
        """
        if self.situation[:2] == CLEAN and self.warned_share > WARNED_CLEAN:
            return "FAILED" if self.quantity in CLAIMED else "noisy"
        if LOWEST <= self.coverage <= HIGHEST:
            return "held"
        if self.coverage > HIGHEST:
            return "wide"
        if self.failing_warned >= WARNED_FAILING * (self.count - self.covered):
            return "warned"
        if self.coverage >= self._stated:
            return "stated"
        return "FAILED" if self.quantity in CLAIMED else "short"

    @property
    def _stated(self) -> float:
        """The floor that is stated for the mean; 1 where none is."""
        if self.quantity != "mean":
            return 1.0
        return STATED.get((self.situation[0], int(self.situation[2])), 1.0)


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


def covers(interval: Interval, truth: float) -> bool:
    """Whether the interval holds the truth; one without bounds does."""
    return not isinstance(interval, Estimate) or interval.low <= truth <= interval.high


def judge_mean(tool: Inference, levels: Sequence[TopLevel]) -> tuple[Interval, bool]:
    """The interval of the baseline's mean, and whether the answer warns of it."""
    values = levels[0].values
    found = independence(values)
    moves = block_correlation(levels[0], levels[1:]) is not None
    warned = (
        moves
        or any(shape_cautions("", values))
        or any(dependence_cautions("", found, len(values)))
        or any(suspicion_cautions("", values))
    )
    return tool.mean(values, moves or is_dependent(found)), warned


def judge_ratios(tool: Inference, levels: Sequence[TopLevel]) -> tuple[list[Interval], bool]:
    """The interval of every ratio, and whether the answer warns of any."""
    ratios = tool.ratios(levels)
    warned = any(
        any(shape_cautions("", ratio.contrasts))
        or any(dependence_cautions("", ratio.independence, ratio.block_count))
        or any(suspicion_cautions("", ratio.contrasts))
        for ratio in ratios
    )
    return [ratio.interval for ratio in ratios], warned
