"""The source of trials that runs them: the launcher, and what the programs leave."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.design.blocks import PlannedTrial
from steelyard.executors.local.launch_wrappings import LayoutTellers, Wrapping
from steelyard.executors.local.left_files import forget_left, left_line
from steelyard.measure.launcher import Launcher
from steelyard.measure.layout_report import reporting_variant
from steelyard.measure.trial_journal import JournalWriter, trial_from_record

SYNC_INTERVAL_S = 2.0


class LauncherSource:
    """Runs each trial by the launcher, its program wrapped in what the trial needs.

    Parameters
    ----------
    spec : ExperimentSpec
    launcher : Launcher
        It runs; `defined` are the programs that it knows.
    journal : JournalWriter
        The one that the launcher appends to.
    directory : str
        Where trials leave their files.
    wrappings : sequence of Wrapping
    defined : sequence of Variant
        By their indices.
    """

    def __init__(
        self,
        spec: ExperimentSpec,
        launcher: Launcher,
        journal: JournalWriter,
        directory: str,
        wrappings: Sequence[Wrapping] = (),
        defined: Sequence[Variant] = (),
    ) -> None:
        self._spec = spec
        self._launcher = launcher
        self._journal = journal
        self._directory = directory
        self._wrappings = tuple(wrappings)
        self._defined = dict(enumerate(defined))
        self._tellers = LayoutTellers()
        self._synced_s = time.monotonic()

    def queue(self, trial: PlannedTrial, program: Variant) -> None:
        """Queue one trial; the launcher is told of its program where that is another one."""
        index, changed = trial.variant, program
        for wrapping in self._wrappings:
            changed = wrapping(changed, trial)
        if self._tellers.tells(index, program):
            changed = reporting_variant(changed, self._directory, trial.position)
        if self._defined.get(index) is not changed:
            self._launcher.define(index, changed)
            self._defined[index] = changed
        self._launcher.queue(trial.position, trial.block, index, trial.warmup, trial.build)

    def take(self) -> Iterator[Trial]:
        """The trials that have ended, with what they left; syncs the journal now and then."""
        yield from self._trials(self._launcher.records(timeout_s=1.0))
        now_s = time.monotonic()
        if now_s - self._synced_s > SYNC_INTERVAL_S:
            self._journal.sync()
            self._synced_s = now_s

    def abandon(self) -> list[Trial]:
        """End the running trial and give those that had ended but were not yet taken."""
        return list(self._trials(self._launcher.abort()))

    def _trials(self, records: Sequence[Mapping[str, Any]]) -> Iterator[Trial]:
        for record in records:
            telling = self._tellers.told(record["variant"])
            taken = left_line(record, self._spec, self._directory, telling=telling)
            if taken:
                self._journal.append(taken)
                forget_left(self._spec, self._directory, record["trial"])
            yield trial_from_record(record, self._spec.metrics, taken)
