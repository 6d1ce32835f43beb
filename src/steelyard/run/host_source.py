"""A session's source of trials that ask for levels of the machine: it is set between them.

One trial at a time: the next one is handed over when the machine is as it asks for. What cannot be
brought about is data: the trial that needed it has failed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from steelyard.core.errors import HostError
from steelyard.core.model import ExperimentSpec, HostLevel, Trial, Variant
from steelyard.factors.setups import at_setup, drawn_setup
from steelyard.host.levels import HostLevels, check_levels
from steelyard.measure.at_levels import levels_line, with_levels
from steelyard.measure.journal import JournalWriter, trial_from_record
from steelyard.run.unit_source import Launching

# What is drawn is checked at so many draws before the run.
_CHECKED_DRAWS = 8


class _Waiting(NamedTuple):
    position: int
    block: int
    variant: int
    warmup: bool
    build: int


class HostSource:
    """Runs what is queued, each trial on the machine as its variant and its setup ask for.

    Parameters
    ----------
    spec : ExperimentSpec
    launching : Launching
        Runs single trials.
    levels : HostLevels
        Of a quiet session that is under way.
    journal : JournalWriter
    """

    def __init__(
        self,
        spec: ExperimentSpec,
        launching: Launching,
        levels: HostLevels,
        journal: JournalWriter,
    ) -> None:
        self._spec = spec
        self._launching = launching
        self._levels = levels
        self._journal = journal
        self._variants = list(spec.variants)
        self._waiting: deque[_Waiting] = deque()
        self._running: tuple[int, dict[str, str]] | None = None

    def queue(self, position: int, block: int, variant: int, warmup: bool, build: int = 0) -> None:
        """Queue one trial."""
        self._waiting.append(_Waiting(position, block, variant, warmup, build))

    def define(self, index: int, variant: Variant) -> None:
        """Make `variant` the program `index` for the trials queued from now on."""
        self._variants[index] = variant

    def take(self) -> Iterator[Trial]:
        """The trials that have ended or cannot be run; starts the next one if none is running."""
        while self._running is None and self._waiting:
            failed = self._start(self._waiting.popleft())
            if failed is not None:
                yield failed
        yield from map(self._taken, self._launching.take())

    def abandon(self) -> list[Trial]:
        """End the running trial and give those that had ended but were not yet taken."""
        self._waiting.clear()
        return [self._taken(trial) for trial in self._launching.abandon()]

    def _start(self, waiting: _Waiting) -> Trial | None:
        variant = self._variants[waiting.variant]
        if self._spec.nuisance:
            setup = drawn_setup(self._spec, waiting.position, waiting.block)
            variant = at_setup(variant, self._spec, setup, "host")
        try:
            found = self._levels.bring_about(variant.host, variant.launch)
        except HostError as error:
            return self._failed(waiting, error.message)
        launch = replace(variant.launch, **found.launch_changes)
        self._journal.append(levels_line(waiting.position, found.realised))
        self._launching.define(waiting.variant, replace(variant, launch=launch))
        self._launching.queue(*waiting)
        self._running = waiting.position, dict(found.realised)
        return None

    def _taken(self, trial: Trial) -> Trial:
        if self._running is None or trial.position != self._running[0]:
            return trial
        _, realised = self._running
        self._running = None
        return with_levels(trial, realised)

    def _failed(self, waiting: _Waiting, error: str) -> Trial:
        """The trial that could not be run, committed to the journal as if it had."""
        record = {
            "trial": waiting.position,
            **{name: getattr(waiting, name) for name in ("block", "variant", "build", "warmup")},
            **{"status": "failed", "reason": "prepare", "error": error},
            **{"started_unix_ns": time.time_ns(), "spent_ns": 0},
        }
        self._journal.append(record)
        return trial_from_record(record, self._spec.metrics)


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
