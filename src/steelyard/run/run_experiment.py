"""Run an experiment on this machine: lock, host, journal, launcher, session, in this order.

Everything that is taken is given back on every way out; what has been measured is in the
journal by then.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment, StopReason, Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.masked_experiment import MASKED
from steelyard.host.facts import host_facts
from steelyard.host.lock import machine_lock
from steelyard.measure.journal import JournalWriter
from steelyard.measure.provenance import program_provenance
from steelyard.run.check_run import asks_of_host, check_run
from steelyard.run.open_source import Directories, open_source
from steelyard.run.trial_session import Session, Watcher
from steelyard.store.location import check_usable, journal_path, log_directory, work_directory

if TYPE_CHECKING:
    from steelyard.host.journal import HostJournal
    from steelyard.host.quiet import QuietState


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
    """Where an experiment that runs keeps its files, and the journal of the host, where trials
    ask for levels of the machine."""

    directories: Directories
    host: HostJournal | None = None


class _Ran(NamedTuple):
    """What a session has done: its trials, why it stopped, and the builds that it made."""

    trials: list[Trial]
    stopped: StopReason
    builds: list[dict[str, Any]]


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
        directories = Directories(outputs, log_directory(place.store, spec.identifier))
        places = _Places(directories, kept)
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
    with open_source(spec, journal, places.directories, places.host) as (source, builds):
        trials = () if earlier is None else earlier.trials
        session = Session(spec, source, trials, watch)
        return _Ran(session.trials, session.run(), builds)


def _quieted(
    spec: ExperimentSpec, stack: contextlib.ExitStack, tell: Callable[[QuietState], None]
) -> QuietState:
    from steelyard.host.knob import Request
    from steelyard.host.quiet import quiet

    state = stack.enter_context(quiet(spec.quiet, Request(cpus=spec.variants[0].launch.cpus)))
    tell(state)
    return state
