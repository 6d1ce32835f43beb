"""A session's source of trials that need something done before them: builds, commands of levels.

That is done between trials, while the launcher idles, so that nothing of it disturbs what is
measured. What fails is data: the trials that needed it have failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.design.blocks import PlannedTrial
from steelyard.design.level_positions import Unit, unit_of
from steelyard.executors.local.built_programs import BuiltPrograms
from steelyard.executors.local.level_commands import LevelCommands
from steelyard.executors.local.trial_source import Failure, TrialSource, failed_trial
from steelyard.executors.local.unit_builds import UnitBuilds
from steelyard.measure.level_costs import LevelCosts
from steelyard.measure.trial_journal import JournalWriter


class UnitSource:
    """Runs what is queued, unit after unit.

    Parameters
    ----------
    spec : ExperimentSpec
    source : TrialSource
        Runs the trials of a unit, once their programs are there.
    journal : JournalWriter
    builds : UnitBuilds
    """

    def __init__(
        self, spec: ExperimentSpec, source: TrialSource, journal: JournalWriter, builds: UnitBuilds
    ) -> None:
        self._spec = spec
        self._source = source
        self._journal = journal
        self._builds = builds
        self._waiting: deque[tuple[PlannedTrial, Variant]] = deque()
        self._running = 0
        self._unit: Unit | None = None
        self._programs: dict[int, Variant | Failure] = {}
        self._levels = LevelCommands(spec.user_levels, self._note)
        self._built = BuiltPrograms(spec, builds, self._note)
        self.costs = LevelCosts(spec)

    def queue(self, trial: PlannedTrial, program: Variant) -> None:
        """Queue one trial, which waits for its unit."""
        self._waiting.append((trial, program))
        if isinstance(self._programs.get(trial.variant), Variant):
            self._start_ready()

    def take(self) -> Iterator[Trial]:
        """The trials that have ended or cannot be run; enters the next unit if none is running."""
        if not self._running and self._waiting:
            yield from self._enter(self._unit_of(self._waiting[0][0]))
        if self._running:
            yield from map(self._taken, self._source.take())

    def abandon(self) -> list[Trial]:
        """End the running trial and give those that had ended but were not yet taken."""
        self._waiting.clear()
        return [self._taken(trial) for trial in self._source.abandon()]

    def _unit_of(self, trial: PlannedTrial) -> Unit:
        return unit_of(self._spec, trial.position)

    def _taken(self, trial: Trial) -> Trial:
        self._running -= 1
        return self.costs.placed(trial)

    def _enter(self, unit: Unit) -> Iterator[Trial]:
        """Prepare `unit` for the variants that wait for it, and start their trials."""
        if unit != self._unit:
            self._builds.leave()
            self._programs.clear()
            self._levels.enter(unit, self._unit)
            self._unit = unit
        own = [one for one in self._waiting if self._unit_of(one[0]) == unit]
        for index, program in {trial.variant: program for trial, program in own}.items():
            if index not in self._programs and self._levels.failure is None:
                self._programs[index] = self._built.ready(index, unit.build, program)
        for one in own:
            failure = self._failure(one[0].variant)
            if failure is not None:
                self._waiting.remove(one)
                failed = failed_trial(self._spec, self._journal, one[0], failure)
                yield self.costs.placed(failed)
        self._start_ready()

    def _start_ready(self) -> None:
        """Hand over the trials at the head of the queue whose programs are ready."""
        while self._waiting:
            trial, _ = self._waiting[0]
            program = self._programs.get(trial.variant)
            if not isinstance(program, Variant) or self._unit_of(trial) != self._unit:
                return
            self._waiting.popleft()
            self._running += 1
            self._source.queue(trial, program)

    def _failure(self, index: int) -> Failure | None:
        if self._levels.failure is not None:
            return self._levels.failure
        program = self._programs.get(index)
        return program if isinstance(program, Failure) else None

    def _note(self, line: Mapping[str, Any]) -> None:
        self._journal.append(line)
        self.costs.add(line)
