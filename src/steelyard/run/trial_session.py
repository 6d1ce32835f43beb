"""One session of an experiment: keep the launcher fed, take its records, decide when to stop.

The launcher always has a block queued behind the one that runs, so that nothing here stands
between two trials.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.experiment_results import StopReason, Trial
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.design.blocks import plan_warmups
from steelyard.design.schedule import phases
from steelyard.executors.executor import OpenExecutor
from steelyard.run.session_phase import Phase

if TYPE_CHECKING:
    from steelyard.analysis.comparison.stopping import Look
    from steelyard.core.estimate import Interval

# The launcher hands records over every 20 ms; what is queued must last several times that long,
# or it waits for this side between short trials.
LOOKAHEAD_S = 0.15
LOOKAHEAD_BLOCKS_LIMIT = 1000
# Planned at a time: while more are planned, the launcher may run out of work.
PLANNED_AT_ONCE = 64
HOPELESS_FAILURES = 3


@dataclass(frozen=True)
class Progress:
    """How far a session is: for whoever watches it.

    `intervals` are of `metric`: those of the ratios, or that of the mean with one variant.
    `half_width_ratio` is that of the widest interval so far, None where one has no bound yet.
    """

    blocks: int
    trials: int
    elapsed_s: float
    expected_left_s: float | None
    half_width_ratio: float | None
    metric: MetricSpec
    intervals: tuple[Interval, ...]
    compares: bool


Watcher = Callable[[Progress], None]


class Session:
    """Runs the trials that an experiment still lacks.

    Parameters
    ----------
    spec : ExperimentSpec
        What to run and when to stop.
    executor : OpenExecutor
        Runs parts of the plan and gives finished trials.
    earlier : sequence of Trial
        Trials of former sessions; they count for stopping and are not repeated.
    watch : callable, optional
        Told of the progress after every batch of trials.
    """

    def __init__(
        self,
        spec: ExperimentSpec,
        executor: OpenExecutor,
        earlier: Sequence[Trial] = (),
        watch: Watcher | None = None,
    ) -> None:
        self.spec = spec
        self.trials: list[Trial] = []
        self.stopped: StopReason | None = None
        self._executor = executor
        self._earlier = tuple(earlier)
        self._watch = watch
        self._followed = watch is not None or spec.stopping.runs is None
        self._started_s = time.monotonic()
        self._phases_begun = 0
        self._ok = [0] * len(spec.variants)
        self._failed = [0] * len(spec.variants)
        self._failed_builds: set[tuple[int, int]] = set()

    def run(self) -> StopReason:
        """Run to the end, or until somebody interrupts; the reason why it ended."""
        try:
            self.stopped = self._run_phases()
        except KeyboardInterrupt:
            self.trials.extend(self._executor.abandon())
            self.stopped = "interrupted"
        return self.stopped

    def _run_phases(self) -> StopReason:
        self._run_warmups()
        done = {trial.position for trial in self._earlier}
        reason: StopReason = "runs"
        for variants in phases(self.spec):
            self._phases_begun += 1
            phase = Phase(self.spec, variants, done, followed=self._followed)
            reason = self._run_phase(phase)
            if reason == "failures":
                break
        return reason

    def _run_warmups(self) -> None:
        former = sum(trial.warmup for trial in self._earlier)
        per_session = self.spec.warmup_count * len(self.spec.variants)
        session = -(-former // per_session) if per_session else 0
        planned = list(
            plan_warmups(self.spec.seed, session, len(self.spec.variants), self.spec.warmup_count)
        )
        if planned:
            self._executor.submit(planned)
        left = len(planned)
        while left:
            for trial in self._take():
                left -= 1
                check_primary(self.spec, trial)

    def _run_phase(self, phase: Phase) -> StopReason:
        phase.start(self._earlier)
        reason = self._decide(phase) if phase.complete_blocks else None
        while True:
            if reason is None:
                reason = self._feed(phase)
            if phase.outstanding == 0:
                # The blocks queued behind a look count as well, and may widen the interval.
                if reason not in ("precision", "decided") or self._decide(phase) == reason:
                    return reason or "runs"
                reason = None
                continue
            blocks_before = phase.complete_blocks
            taken = self._take()
            for trial in taken:
                phase.outstanding -= 1
                phase.add(trial)
                check_primary(self.spec, trial)
            if self._hopeless():
                reason = "failures"
            if phase.complete_blocks > blocks_before:
                reason = self._decide(phase) or reason
            elif self._watch is not None and not taken:
                # A trial that takes long shows how long it has taken.
                self._tell(phase, phase.looks())

    def _decide(self, phase: Phase) -> StopReason | None:
        """Look at the blocks so far, tell the watcher, and stop when they are precise enough or
        decide every verdict."""
        if not self._followed:
            return None
        rule = self.spec.stopping.rule
        looks = phase.looks()
        self._tell(phase, looks)
        return rule if rule != "runs" and all(look.done for look in looks) else None

    def _feed(self, phase: Phase) -> StopReason | None:
        """Queue blocks up to the look-ahead; a reason to stop when no more may be queued."""
        block_s, ahead = phase.block_s, 2
        if block_s:
            ahead = min(LOOKAHEAD_BLOCKS_LIMIT, max(2, math.ceil(LOOKAHEAD_S / block_s)))
        for _ in range(PLANNED_AT_ONCE):
            if not phase.wants_more(ahead):
                break
            if self._over_budget(phase):
                return "budget"
            planned = phase.plan()
            if not planned:
                return "runs"
            self._executor.submit(planned)
        return None

    def _over_budget(self, phase: Phase) -> bool:
        """Whether one more block would pass the budget; the first ones never do."""
        stopping, block_s = self.spec.stopping, phase.block_s
        queued = sum(not trial.warmup for trial in self.trials) + phase.outstanding
        if not queued or phase.begun_blocks < stopping.budget_blocks:
            return False
        if stopping.budget_runs is not None:
            share = stopping.budget_runs * self._phases_begun / len(phases(self.spec))
            if queued + phase.block_size > share:
                return True
        if stopping.budget_s is not None:
            share_s = stopping.budget_s * self._phases_begun / len(phases(self.spec))
            waiting_s = block_s * phase.outstanding / phase.block_size
            if time.monotonic() - self._started_s + waiting_s + block_s > share_s:
                return True
        return False

    def _take(self) -> list[Trial]:
        taken = list(self._executor.take())
        for trial in taken:
            self.trials.append(trial)
            if trial.status == "ok":
                self._ok[trial.variant] += 1
            else:
                self._failed[trial.variant] += self._failures_in(trial)
        return taken

    def _failures_in(self, trial: Trial) -> int:
        """One; but a build that failed counts once, and for good where it is the only one."""
        if trial.reason != "build":
            return 1
        if not self.spec.repeats_builds:
            return HOPELESS_FAILURES
        known = (trial.variant, trial.build) in self._failed_builds
        self._failed_builds.add((trial.variant, trial.build))
        return 0 if known else 1

    def _hopeless(self) -> bool:
        """Whether so many variants have failed from their first trial on that it is no use.

        One is enough for a comparison. Of a design with a fixed number of runs the other points
        are worth theirs: a level that cannot be built is a finding.
        """
        hopeless = [
            failed >= HOPELESS_FAILURES and not ok
            for ok, failed in zip(self._ok, self._failed, strict=True)
        ]
        whole_design = self.spec.varied and self.spec.stopping.runs is not None
        return all(hopeless) if whole_design else any(hopeless)

    def _tell(self, phase: Phase, looks: Sequence[Look]) -> None:
        if self._watch is None:
            return
        stopping = self.spec.stopping
        elapsed_s = time.monotonic() - self._started_s
        left_s = None
        wanted = _most([look.blocks_needed for look in looks])
        if wanted is not None and phase.block_s:
            left_s = max(0.0, wanted - phase.complete_blocks) * phase.block_s
        if stopping.budget_s is not None:
            budget_left_s = max(0.0, stopping.budget_s - elapsed_s)
            left_s = budget_left_s if left_s is None else min(left_s, budget_left_s)
        widest = _most([width for look in looks for width in look.half_width_ratios])
        self._watch(
            Progress(
                blocks=phase.complete_blocks,
                trials=len(self.trials),
                elapsed_s=elapsed_s,
                expected_left_s=left_s,
                half_width_ratio=widest,
                metric=self.spec.primary_metric,
                intervals=tuple(interval for look in looks for interval in look.intervals),
                compares=len(phase.variants) > 1,
            )
        )


def check_primary(spec: ExperimentSpec, trial: Trial) -> None:
    """Refuse to go on where this machine gives no value of what is to be compared.

    Raises
    ------
    MissingCapabilityError
    """
    metric = spec.primary_metric
    if trial.status == "ok" and metric.name not in trial.measurements:
        raise MissingCapabilityError(
            f"This machine gives no {metric.name}, which is what is to be compared. "
            "`steelyard host status` says what its performance counters offer; "
            "--metric names another.",
            field="--metric",
        )


def _most(values: Sequence[float | None]) -> float | None:
    """The largest; None where one is unknown."""
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
