"""Run an experiment on this machine: lock, host, journal, launcher, session, in this order.

Everything that is taken is given back on every way out; what has been measured is in the
journal by then.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.app.session import Session, Watcher
from steelyard.core.model import Experiment, ExperimentSpec, StopReason, Trial
from steelyard.host.facts import host_facts
from steelyard.host.lock import machine_lock
from steelyard.measure.journal import PRINTED_SOURCES, JournalWriter, trial_from_record
from steelyard.measure.launcher import Launcher
from steelyard.measure.preflight import check_launch
from steelyard.measure.printed import taken_line
from steelyard.measure.provenance import program_provenance
from steelyard.store.location import check_usable, journal_path, work_directory

if TYPE_CHECKING:
    from steelyard.host.quiet import QuietState
    from steelyard.measure.iterations import IterationFiles

SYNC_INTERVAL_S = 2.0


def _say_nothing(_: str) -> None:
    pass


@dataclass(frozen=True)
class Place:
    """Where an experiment is kept, whether it may wait for the machine, and who is told of that
    and of what was made quiet."""

    store: str
    wait: bool = False
    say: Callable[[str], None] = _say_nothing


class _LauncherSource:
    """A session's source of trials: the launcher, and what the programs print."""

    def __init__(
        self, spec: ExperimentSpec, launcher: Launcher, journal: JournalWriter, outputs: str
    ) -> None:
        self._spec = spec
        self._prints = any(metric.source in PRINTED_SOURCES for metric in spec.metrics)
        self._launcher = launcher
        self._journal = journal
        self._synced_s = time.monotonic()
        self.queue = launcher.queue
        self._files: IterationFiles | None = None
        if spec.iterations is not None:
            from steelyard.measure.iterations import IterationFiles

            self._files = IterationFiles(spec.iterations, outputs)
            self.queue = self._queue_with_file

    def _queue_with_file(
        self, position: int, block: int, variant: int, warmup: bool = False, build: int = 0
    ) -> None:
        if self._files is not None:
            changed = self._files.variant_for(self._spec.variants[variant], position)
            self._launcher.define(variant, changed)
        self._launcher.queue(position, block, variant, warmup, build)

    def take(self) -> Iterator[Trial]:
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
            taken: Mapping[str, Any] = {}
            if self._prints:
                taken = taken_line(record, self._spec)
                self._journal.append(taken)
                if self._files is not None:
                    self._files.remove(record["trial"])
            yield trial_from_record(record, self._spec.metrics, taken)


def run_experiment(
    spec: ExperimentSpec,
    place: Place,
    earlier: Experiment | None = None,
    watch: Watcher | None = None,
) -> Experiment:
    """Run the trials that `spec` still lacks, and give the experiment with all of them.

    Parameters
    ----------
    spec : ExperimentSpec
        What to run and when to stop.
    place : Place
        The store, and what to do while another measurement holds the machine.
    earlier : Experiment, optional
        What former sessions have done of it.
    watch : callable, optional
        Told of the progress.

    Raises
    ------
    StoreError, BusyError, UsageError, MissingCapabilityError
        Before any trial.
    LauncherDiedError, TrialsFailedError
        Midway; every trial that had ended is kept.
    """
    check_usable(place.store)
    started_unix_s = time.time()
    with contextlib.ExitStack() as stack:
        purpose = f"experiment {spec.identifier}"
        stack.enter_context(machine_lock(purpose, wait=place.wait, on_wait=place.say))
        if spec.setup is not None:
            from steelyard.measure.setup_step import run_setup

            run_setup(spec.setup, spec.variants[0].launch)
        for variant in spec.variants:
            # Before the journal exists, so that a wrong call leaves no experiment behind, and
            # before the host is quiet, which moves this process off the measured CPUs.
            check_launch(variant.launch)
        provenance = {"host": host_facts(), **program_provenance(spec)}
        variants = spec.variants
        if spec.quiet:
            state = _quieted(spec, stack, place.say)
            variants = tuple(
                replace(variant, launch=replace(variant.launch, **state.launch_changes))
                for variant in variants
            )
            provenance["quiet"] = {"applied": state.applied, "refused": state.refused}
        outputs = work_directory(place.store, spec.identifier)
        os.makedirs(outputs, exist_ok=True)
        path = journal_path(place.store, spec.identifier)
        journal = stack.enter_context(JournalWriter(path, spec, provenance))
        trials, stopped = _run_session(
            replace(spec, variants=variants), journal, outputs, earlier, watch
        )
        journal.append({"stopped": stopped})
        journal.sync()
    session = Experiment(spec, provenance, started_unix_s, tuple(trials), stopped)
    if earlier is None:
        return session
    from steelyard.store.merge import merge_experiments

    return merge_experiments(earlier, session)


def _run_session(
    spec: ExperimentSpec,
    journal: JournalWriter,
    outputs: str,
    earlier: Experiment | None,
    watch: Watcher | None,
) -> tuple[list[Trial], StopReason]:
    with Launcher(journal, outputs, spec.variants, spec.metrics) as launcher:
        source = _LauncherSource(spec, launcher, journal, outputs)
        session = Session(spec, source, () if earlier is None else earlier.trials, watch)
        try:
            stopped = session.run()
        except KeyboardInterrupt:
            session.trials.extend(source.abandon())
            stopped = "interrupted"
        return session.trials, stopped


def _quieted(
    spec: ExperimentSpec, stack: contextlib.ExitStack, say: Callable[[str], None]
) -> QuietState:
    from steelyard.host.knob import Request
    from steelyard.host.quiet import quiet
    from steelyard.report.host_text import quiet_lines

    state = stack.enter_context(quiet(spec.quiet, Request(cpus=spec.variants[0].launch.cpus)))
    for line in quiet_lines(state):
        say(line)
    return state
