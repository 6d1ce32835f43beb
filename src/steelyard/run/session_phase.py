"""The blocks of one phase of a session: their values as they fill up, and the rule to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.design.blocks import PlannedTrial
from steelyard.design.schedule import Schedule

if TYPE_CHECKING:
    from steelyard.analysis.comparison.stopping import Look, Stopping


class Phase:
    """The blocks of one phase: their values as they fill up, and the rule to stop.

    Each group of variants has a baseline of its own, and so an own rule to stop; the phase
    goes on until all of them are done.
    """

    def __init__(
        self, spec: ExperimentSpec, variants: Sequence[int], done: set[int], *, followed: bool
    ) -> None:
        self.spec = spec
        self.variants = tuple(variants)
        self.schedule = Schedule(spec, variants, done)
        self.block_size = len(self.variants) * spec.trials_of_variant
        self._levelled: dict[int, list[Trial]] = {}
        self._started_s = time.monotonic()
        self._rules = _rules_to_stop(spec, self.variants) if followed else []
        self._waiting: dict[int, dict[int, float | None]] = {}
        self.complete_blocks = 0
        self.spent_s = 0.0
        self.outstanding = 0
        self.earlier_blocks = 0

    def start(self, earlier: Iterable[Trial]) -> None:
        """Take over the trials of former sessions: they count, but their cost is spent."""
        for trial in earlier:
            if not trial.warmup and trial.variant in self.variants:
                self.add(trial)
        self.spent_s, self.earlier_blocks = 0.0, self.complete_blocks

    def plan(self) -> list[PlannedTrial]:
        trials = self.schedule.next_block()
        self.outstanding += len(trials)
        return trials

    def add(self, trial: Trial) -> None:
        """Take one trial; the block that it completes goes to the rules to stop."""
        at_once = self.block_size if self.spec.order == "parallel" else 1
        self.spent_s += trial.spent_s / at_once
        if self.spec.levels:
            self._add_levelled(trial)
            return
        block = self._waiting.setdefault(trial.block, {})
        block[trial.variant] = _value(trial, self.spec.primary_metric.name)
        if len(block) == len(self.variants):
            del self._waiting[trial.block]
            self.complete_blocks += 1
            for rule in self._rules:
                rule.add(block)

    def _add_levelled(self, trial: Trial) -> None:
        """The same where a block has several trials of each variant: their means count."""
        from steelyard.analysis.comparison.unit_values import analysed_trials, top_level

        block = self._levelled.setdefault(trial.block, [])
        block.append(trial)
        if len(block) < self.block_size:
            return
        del self._levelled[trial.block]
        self.complete_blocks += 1
        metric = self.spec.primary_metric.name
        tops = {v: top_level(analysed_trials(block, v), metric).values for v in self.variants}
        values = {variant: top[0] if top else None for variant, top in tops.items()}
        for rule in self._rules:
            rule.add(values)

    def looks(self) -> list[Look]:
        """How far each group is."""
        return [rule.stopping.look() for rule in self._rules]

    @property
    def block_s(self) -> float:
        """Mean cost of a block of this session, in seconds; 0 before the first."""
        fresh = self.complete_blocks - self.earlier_blocks
        spent_s = self.spent_s
        if self.spec.levels:  # With what was done between the trials.
            spent_s = time.monotonic() - self._started_s
        return spent_s / fresh if fresh else 0.0

    @property
    def begun_blocks(self) -> int:
        """Blocks that are complete, of all sessions, and those that are queued."""
        return self.complete_blocks + -(-self.outstanding // self.block_size)

    def wants_more(self, ahead: int) -> bool:
        """Whether less than `ahead` blocks are queued. Between blocks of several levels the
        launcher idles in any case, and none is begun before it is known to be needed."""
        if self.spec.levels:
            return self.outstanding == 0
        return self.outstanding < ahead * self.block_size


class _Rule(NamedTuple):
    """A rule to stop, and the sides that it compares: single variants, or those of an effect."""

    sides: tuple[tuple[int, ...], ...]
    stopping: Stopping

    def add(self, values: Mapping[int, float | None]) -> None:
        """Take the value of each variant in a block; that of a side is the mean of its variants."""
        from steelyard.analysis.comparison.stopping import side_means

        self.stopping.add_block(side_means(values, self.sides))


def _rules_to_stop(spec: ExperimentSpec, variants: tuple[int, ...]) -> list[_Rule]:
    """A rule for each group of variants. Loaded here, for a fixed number of runs needs none."""
    from steelyard.analysis.comparison.stopping import Stopping
    from steelyard.analysis.intervals.simultaneous import group_confidence

    groups = spec.groups() if len(variants) > 1 else (variants,)
    confidence = group_confidence(spec.confidence, len(groups))
    rule = _phase_stopping(spec)
    found: list[_Rule] = []
    for group in groups:
        sides = tuple((variant,) for variant in group)
        if rule.effect:
            from steelyard.analysis.comparison.named_effect import effect_sides

            sides = effect_sides(spec, group, rule.effect)
        alone = len(variants) == 1
        compared = sum(len(group) - 1 for group in spec.groups()) if alone else None
        stopping = Stopping(rule, len(sides), confidence, spec.margin_ratio, compared)
        found.append(_Rule(sides, stopping))
    return found


def _value(trial: Trial, metric: str) -> float | None:
    values = trial.measurements.get(metric, ())
    if trial.status != "ok" or not len(values):
        return None
    return math.fsum(values) / len(values)


def _phase_stopping(spec: ExperimentSpec) -> StoppingSpec:
    """A sequential phase narrows one mean: by the square root of two more than the ratio needs."""
    if spec.order != "sequential" or len(spec.variants) == 1:
        return spec.stopping
    precision = spec.stopping.precision_ratio / math.sqrt(2)
    return replace(spec.stopping, precision_ratio=precision)
