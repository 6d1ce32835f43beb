"""When an experiment stops, and the answers that were given before it went on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

StoppingUntil = Literal["precision", "decided"]
StoppingRule = Literal["precision", "decided", "runs"]


@dataclass(frozen=True)
class PastLook:
    """An answer that was given before the experiment went on.

    Parameters
    ----------
    block_count : int
        Blocks at that time.
    rule : "precision", "decided" or "runs"
        What was to end the experiment then.
    """

    block_count: int
    rule: StoppingRule


# Fewer values of one program do not show the shape of their distribution, and with fewer the mean
# of a program of two modes ends by its precision in the mode that was seen (docs/STATISTICS.md).
MEAN_MINIMUM_BLOCKS = 20


@dataclass(frozen=True)
class StoppingSpec:
    """When to stop. `runs` fixes the number of blocks; otherwise `until` says, within a budget.

    Parameters
    ----------
    precision_ratio : float
        Wanted half-width of each ratio's interval (of the mean, relative, with one variant).
    minimum_blocks : int
        Blocks before the first look; commands that weigh one program ask for
        `MEAN_MINIMUM_BLOCKS`.
    budget_s, budget_runs : float, int or None
        Time for all trials, and trials in all.
    runs : int or None
        Blocks, exactly.
    effect : str
        The factor of the experiment, or the interaction ``A:B`` of two-level ones, whose ratio is
        to be that precise; empty: every variant's ratio to the first.
    until : "precision" or "decided"
        Until every interval is narrow, or until every verdict is decided.
    looks : tuple of PastLook
        Earlier answers, for which later intervals allow.
    budget_blocks : int
        Blocks that are run even where they take longer than `budget_s`.
    """

    precision_ratio: float = 0.01
    minimum_blocks: int = 10
    budget_s: float | None = None
    budget_runs: int | None = None
    runs: int | None = None
    effect: str = ""
    until: StoppingUntil = "precision"
    looks: tuple[PastLook, ...] = ()
    budget_blocks: int = 1

    @property
    def rule(self) -> StoppingRule:
        """What ends the experiment if the budget does not."""
        return self.until if self.runs is None else "runs"


# Of commands that weigh programs, where no option says: a minute for each program is an answer
# soon, and with three runs a program that takes longer than that has an interval.
USUAL_BUDGET_S = 60.0
USUAL_BUDGET_BLOCKS = 3
LARGEST_USUAL_BUDGET_S = 600.0


def with_usual_budget(stopping: StoppingSpec, variant_count: int, *, patient: bool) -> StoppingSpec:
    """`stopping` with the budget of an experiment for which none is asked.

    Parameters
    ----------
    stopping : StoppingSpec
        Without a budget.
    variant_count : int
    patient : bool
        Whether a precision, a least number of runs or builds were asked for, which take longer.
    """
    if stopping.runs is not None:
        return stopping
    if patient:
        return replace(stopping, budget_s=LARGEST_USUAL_BUDGET_S)
    budget_s = min(LARGEST_USUAL_BUDGET_S, variant_count * USUAL_BUDGET_S)
    return replace(stopping, budget_s=budget_s, budget_blocks=USUAL_BUDGET_BLOCKS)
