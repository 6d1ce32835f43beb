"""A session's source of trials that ask for levels of the machine: it is set between them.

One trial at a time: the next one is handed over when the machine is as it asks for. What cannot be
brought about is data: the trial that needed it has failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from steelyard.core.errors import HostError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, HostLevel, Variant
from steelyard.design.blocks import PlannedTrial
from steelyard.executors.local.trial_source import Failure, TrialSource, failed_trial
from steelyard.factors.randomised_setups import at_setup, drawn_setup
from steelyard.host.machine_levels import HostLevels, check_levels
from steelyard.measure.at_levels import levels_line, with_levels
from steelyard.measure.trial_journal import JournalWriter

# What is drawn is checked at so many draws before the run.
_CHECKED_DRAWS = 8


class HostSource:
    """Runs what is queued, each trial on the machine as its variant and its setup ask for.

    Parameters
    ----------
    spec : ExperimentSpec
    source : TrialSource
        Runs each of them.
    levels : HostLevels
        Of a quiet session that is under way.
    journal : JournalWriter
    """

    def __init__(
        self,
        spec: ExperimentSpec,
        source: TrialSource,
        levels: HostLevels,
        journal: JournalWriter,
    ) -> None:
        self._spec = spec
        self._source = source
        self._levels = levels
        self._journal = journal
        self._waiting: deque[tuple[PlannedTrial, Variant]] = deque()
        self._running: tuple[int, dict[str, str]] | None = None

    def queue(self, trial: PlannedTrial, program: Variant) -> None:
        """Queue one trial, which waits until the machine is as `program` asks for."""
        self._waiting.append((trial, program))

    def take(self) -> Iterator[Trial]:
        """The trials that have ended or cannot be run; starts the next one if none is running."""
        while self._running is None and self._waiting:
            failed = self._start(*self._waiting.popleft())
            if failed is not None:
                yield failed
        yield from map(self._taken, self._source.take())

    def abandon(self) -> list[Trial]:
        """End the running trial and give those that had ended but were not yet taken."""
        self._waiting.clear()
        return [self._taken(trial) for trial in self._source.abandon()]

    def _start(self, trial: PlannedTrial, program: Variant) -> Trial | None:
        if self._spec.nuisance:
            setup = drawn_setup(self._spec, trial.position, trial.block)
            program = at_setup(program, self._spec, setup, "host")
        try:
            found = self._levels.bring_about(program.host, program.launch)
        except HostError as error:
            failure = Failure("prepare", error.message)
            return failed_trial(self._spec, self._journal, trial, failure)
        launch = replace(program.launch, **found.launch_changes)
        self._journal.append(levels_line(trial.position, found.realised))
        self._source.queue(trial, replace(program, launch=launch))
        self._running = trial.position, dict(found.realised)
        return None

    def _taken(self, trial: Trial) -> Trial:
        if self._running is None or trial.position != self._running[0]:
            return trial
        _, realised = self._running
        self._running = None
        return with_levels(trial, realised)


def host_checks(spec: ExperimentSpec) -> Iterator[Callable[[], None]]:
    """For each level that trials ask of the machine, what refuses it where this machine or this
    user cannot have it."""
    seen: set[HostLevel] = set()
    for variant in _variants_at_draws(spec):
        for level in variant.host:
            if level not in seen:
                seen.add(level)
                yield partial(check_levels, (level,), variant.launch)


def _variants_at_draws(spec: ExperimentSpec) -> Iterator[Variant]:
    yield from spec.variants
    for number in range(_CHECKED_DRAWS if spec.nuisance else 0):
        setup = drawn_setup(spec, number, number)
        for variant in spec.variants:
            yield at_setup(variant, spec, setup, "host")
