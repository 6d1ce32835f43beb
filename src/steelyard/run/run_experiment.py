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
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.core.errors import UsageError
from steelyard.core.masked_experiment import MASKED
from steelyard.core.model import Experiment, ExperimentSpec, StopReason, Trial, Variant
from steelyard.host.facts import host_facts
from steelyard.host.lock import machine_lock
from steelyard.measure.journal import JournalWriter, trial_from_record
from steelyard.measure.launcher import Launcher
from steelyard.measure.layout_report import reporting_variant, tells_layout
from steelyard.measure.provenance import program_provenance
from steelyard.measure.taken import forget_taken, taken_line, takes_output
from steelyard.run.check_run import asks_of_host, check_run
from steelyard.run.trial_session import Session, Watcher
from steelyard.store.location import check_usable, journal_path, log_directory, work_directory

if TYPE_CHECKING:
    from steelyard.host.journal import HostJournal
    from steelyard.host.quiet import QuietState
    from steelyard.measure.iterations import IterationFiles
    from steelyard.measure.tracing import Tracing
    from steelyard.run.unit_source import Launching, UnitSource

SYNC_INTERVAL_S = 2.0


def _tell_nobody(_: object) -> None:
    pass


@dataclass(frozen=True)
class Place:
    """Where an experiment is kept, whether it may wait for the machine, and who is told of that
    and of what was made quiet."""

    store: str
    wait: bool = False
    say: Callable[[str], None] = _tell_nobody
    tell_quiet: Callable[[QuietState], None] = _tell_nobody


class _Places(NamedTuple):
    """Directories: for outputs and builds while it runs, and for logs that are kept. And the
    journal of the host, where trials ask for levels of the machine."""

    outputs: str
    logs: str
    host: HostJournal | None = None


class _Ran(NamedTuple):
    """What a session has done: its trials, why it stopped, and the builds that it made."""

    trials: list[Trial]
    stopped: StopReason
    builds: list[dict[str, Any]]


class _LauncherSource:
    """A session's source of trials: the launcher, and what the programs print."""

    def __init__(
        self, spec: ExperimentSpec, launcher: Launcher, journal: JournalWriter, outputs: str
    ) -> None:
        self._spec = spec
        self._variants = list(spec.variants)
        self._launcher = launcher
        self._journal = journal
        self._synced_s = time.monotonic()
        self.queue = launcher.queue
        self._outputs = outputs
        self._files: IterationFiles | None = None
        self._tracing: Tracing | None = None
        # Files of iterations, outputs that are checked, setups that are drawn and reports of
        # layouts are a trial's own, and so its program is.
        self._tell_layout = {
            index
            for index, variant in enumerate(spec.variants)
            if variant.build is None and tells_layout(variant.launch)
        }
        self._own_programs = bool(
            spec.iterations
            or spec.nuisance
            or self._tell_layout
            or spec.events
            or any(variant.checks for variant in spec.variants)
        )
        if spec.iterations is not None:
            from steelyard.measure.iterations import IterationFiles

            self._files = IterationFiles(spec.iterations, outputs)
        if self._own_programs:
            self.queue = self._queue_own_program

    def _queue_own_program(
        self, position: int, block: int, variant: int, warmup: bool = False, build: int = 0
    ) -> None:
        changed = self._variants[variant]
        if self._spec.nuisance:
            from steelyard.factors.setups import at_setup, drawn_setup

            setup = drawn_setup(self._spec, position, block)
            changed = at_setup(changed, self._spec, setup, "launch")
        if changed.checks:
            from steelyard.measure.output_checks import checked_variant

            changed = checked_variant(changed, self._outputs, position)
        if self._files is not None:
            changed = self._files.variant_for(changed, position)
        if self._tracing is not None and self._records(variant):
            changed = self._tracing.variant_for(changed, position)
        if variant in self._tell_layout:
            changed = reporting_variant(changed, self._outputs, position)
        self._launcher.define(variant, changed)
        self._launcher.queue(position, block, variant, warmup, build)

    def record_events(self, tracing: Tracing) -> None:
        """Record the events of the variant that the specification names."""
        self._tracing = tracing

    def _records(self, variant: int) -> bool:
        return self._spec.events is not None and self._spec.events.variant == variant

    def define(self, index: int, variant: Variant) -> None:
        """Make `variant` the program `index` for the trials queued from now on."""
        self._variants[index] = variant
        self._tell_layout.discard(index)
        if tells_layout(variant.launch):
            self._tell_layout.add(index)
            self._own_programs = True
            self.queue = self._queue_own_program
        if not self._own_programs:
            self._launcher.define(index, variant)

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
            telling = record["variant"] in self._tell_layout
            taken = taken_line(record, self._spec, self._outputs, telling=telling)
            if taken:
                self._journal.append(taken)
                forget_taken(self._outputs, record["trial"])
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
    _refuse_masked(earlier)
    started_unix_s = time.time()
    with contextlib.ExitStack() as stack:
        purpose = f"experiment {spec.identifier}"
        stack.enter_context(machine_lock(purpose, wait=place.wait, on_wait=place.say))
        _set_up(spec)
        outputs = work_directory(place.store, spec.identifier)
        # Before the journal exists, so that a wrong call leaves no experiment behind, and
        # before the host is quiet, which moves this process off the measured CPUs.
        check_run(spec, outputs)
        provenance = present_provenance(spec)
        variants = spec.variants
        state: QuietState | None = None
        of_host = asks_of_host(spec)
        if spec.quiet or of_host:
            state = _quieted(spec, stack, place.tell_quiet)
            variants = tuple(
                replace(variant, launch=replace(variant.launch, **state.launch_changes))
                for variant in variants
            )
            provenance["quiet"] = {"applied": state.applied, "refused": state.refused}
        os.makedirs(outputs, exist_ok=True)
        path = journal_path(place.store, spec.identifier)
        journal = stack.enter_context(JournalWriter(path, spec, provenance, files=outputs))
        kept = state.journal if state is not None and of_host else None
        places = _Places(outputs, log_directory(place.store, spec.identifier), kept)
        ran = _run_session(replace(spec, variants=variants), journal, places, earlier, watch)
        journal.append({"stopped": ran.stopped})
        journal.sync()
    if ran.builds:
        provenance["builds"] = ran.builds
    session = Experiment(spec, provenance, started_unix_s, tuple(ran.trials), ran.stopped)
    if earlier is None:
        return session
    from steelyard.store.merge import merge_experiments

    return merge_experiments(earlier, session)


def _refuse_masked(earlier: Experiment | None) -> None:
    if earlier is not None and earlier.provenance.get(MASKED):
        raise UsageError(
            f"The experiment {earlier.spec.identifier} was exported without its secrets, so its "
            "commands cannot be run again. Export it with --show-secrets where it was measured.",
            field="experiment",
        )


def _set_up(spec: ExperimentSpec) -> None:
    """Run the command for the whole experiment, then those of each group, each where the first
    program that it is for runs."""
    steps = {} if spec.setup is None else {("", spec.setup): spec.variants[0].launch}
    for variant in spec.variants:
        if variant.setup is not None:
            steps.setdefault((variant.group, variant.setup), variant.launch)
    for (_, argv), launch in steps.items():
        from steelyard.measure.setup_step import run_setup

        is_there = "{build}" not in (launch.working_directory or "")
        run_setup(argv, launch if is_there else replace(launch, working_directory=None))


def present_provenance(spec: ExperimentSpec) -> dict[str, Any]:
    """This machine and the programs of `spec` as they are now."""
    found = {"host": host_facts(), **program_provenance(spec)}
    for variant, program in zip(spec.variants, found["programs"], strict=True):
        if variant.build is not None:
            from steelyard.build.cache_key import build_inputs

            program["build"] = build_inputs(variant.build)
    return found


def _run_session(
    spec: ExperimentSpec,
    journal: JournalWriter,
    places: _Places,
    earlier: Experiment | None,
    watch: Watcher | None,
) -> _Ran:
    outputs = places.outputs
    # Programs that are built are defined when they are there.
    in_units = bool(spec.levels) or any(variant.build for variant in spec.variants)
    defined = () if in_units else spec.variants
    with (
        Launcher(
            journal,
            outputs,
            defined,
            spec.metrics,
            keep_output="until-taken" if takes_output(spec) else False,
        ) as launcher,
        contextlib.ExitStack() as stack,
    ):
        launching = _LauncherSource(spec, launcher, journal, outputs)
        if spec.events is not None:
            from steelyard.measure.tracing import Tracing
            from steelyard.run.event_stacks import stack_programs

            tracing = Tracing(spec.events, outputs, stack_programs(spec.events))
            launching.record_events(stack.enter_context(tracing))
        source: Launching = launching
        if places.host is not None:
            from steelyard.host.levels import HostLevels
            from steelyard.run.host_source import HostSource

            levels = HostLevels(places.host, (launcher.pid,))
            source = HostSource(spec, source, levels, journal)
        units: UnitSource | None = None
        if in_units:
            from steelyard.run.unit_source import UnitSource

            units = UnitSource(spec, source, journal, outputs, places.logs)
            stack.callback(units.close)
        trials = () if earlier is None else earlier.trials
        session = Session(spec, units or source, trials, watch)
        try:
            stopped = session.run()
        except KeyboardInterrupt:
            session.trials.extend((units or source).abandon())
            stopped = "interrupted"
        return _Ran(session.trials, stopped, units.costs.builds if units else [])


def _quieted(
    spec: ExperimentSpec, stack: contextlib.ExitStack, tell: Callable[[QuietState], None]
) -> QuietState:
    from steelyard.host.knob import Request
    from steelyard.host.quiet import quiet

    state = stack.enter_context(quiet(spec.quiet, Request(cpus=spec.variants[0].launch.cpus)))
    tell(state)
    return state
