"""Which trials come next: blocks of a plan without those that are done already."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.design.blocks import PlannedTrial, plan_block, plan_run


class Schedule:
    """The blocks of one phase, in order.

    A phase of blocks holds every variant; one of the sequential order holds one variant, whose
    runs are its blocks.

    Parameters
    ----------
    spec : ExperimentSpec
        Seed, order, variants and a fixed number of runs, if there is one.
    variants : sequence of int
        The variants of this phase.
    done : collection of int
        Positions that have a trial already; a resumed experiment leaves them out.
    """

    def __init__(
        self, spec: ExperimentSpec, variants: Sequence[int], done: Collection[int]
    ) -> None:
        self.variants = tuple(variants)
        self._spec = spec
        self._done = done
        self._block = 0

    def next_block(self) -> list[PlannedTrial]:
        """The trials of the next block that lacks any; empty when a fixed number is reached.

        What ran beside its block cannot be made up for alone: half a parallel block stays that.
        """
        limit = self._spec.stopping.runs
        while limit is None or self._block < limit:
            planned = self._plan()
            trials = [trial for trial in planned if trial.position not in self._done]
            self._block += 1
            if trials and (len(trials) == len(planned) or self._spec.order != "parallel"):
                return trials
        return []

    def _plan(self) -> list[PlannedTrial]:
        count = len(self._spec.variants)
        if self._spec.levels:
            from steelyard.design.level_positions import plan_levelled_block

            return plan_levelled_block(self._spec, self._block, self.variants)
        if self._spec.order == "sequential":
            return [plan_run(self._block, variant, count) for variant in self.variants]
        return plan_block(self._spec.seed, self._block, count)


def phases(spec: ExperimentSpec) -> list[list[int]]:
    """The variants of each phase: all at once in blocks, or one after the other."""
    everyone = list(range(len(spec.variants)))
    return [[variant] for variant in everyone] if spec.order == "sequential" else [everyone]
