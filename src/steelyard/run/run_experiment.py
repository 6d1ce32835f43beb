"""Run an experiment: an executor made ready, a journal, a session, in this order.

Everything that is taken is given back on every way out; what has been measured is in the
journal by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import MissingCapabilityError, RandomizationError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.masked_experiment import MASKED
from steelyard.executors.executor import Executor, ReadyExecutor, Workplace, tell_nobody
from steelyard.executors.kinds import EXECUTORS
from steelyard.measure.trial_journal import JournalWriter
from steelyard.run.trial_session import Session, Watcher
from steelyard.store.store_location import check_usable, journal_path, log_directory, work_directory

if TYPE_CHECKING:
    from steelyard.host.quiet import QuietState

LOCAL = "local"


@dataclass(frozen=True)
class Place:
    """Where an experiment is kept and run, whether it may wait for the machine, and who is told
    of that and of what was made quiet."""

    store: str
    wait: bool = False
    say: Callable[[str], None] = tell_nobody
    tell_quiet: Callable[[QuietState], None] = tell_nobody
    executor: str = LOCAL

    def workplace(self, identifier: str) -> Workplace:
        """What an executor is given of it for the experiment `identifier`."""
        outputs = work_directory(self.store, identifier)
        logs = log_directory(self.store, identifier)
        return Workplace(outputs, logs, self.wait, self.say, self.tell_quiet)


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
    executor: Executor = EXECUTORS.get(place.executor)
    # Ready before the journal exists, so that a wrong call leaves no experiment behind.
    with executor.ready(spec, place.workplace(spec.identifier)) as ready:
        session, builds = _run_session(spec, place, ready, earlier, watch)
        provenance = ready.provenance
    if builds:
        provenance["builds"] = builds
    trials, stopped = tuple(session.trials), session.stopped
    done = Experiment(spec, provenance, started_unix_s, trials, stopped)
    if earlier is None:
        return done
    from steelyard.store.merge import merge_experiments

    return merge_experiments(earlier, done)


def _refuse_masked(earlier: Experiment | None) -> None:
    if earlier is not None and earlier.provenance.get(MASKED):
        raise UsageError(
            f"The experiment {earlier.spec.identifier} was exported without its secrets, so its "
            "commands cannot be run again. Export it with --show-secrets where it was measured.",
            field="experiment",
        )


def _run_session(
    spec: ExperimentSpec,
    place: Place,
    ready: ReadyExecutor,
    earlier: Experiment | None,
    watch: Watcher | None,
) -> tuple[Session, list[dict[str, Any]]]:
    """The session when it has ended, and the lines on builds that were made for it."""
    path = journal_path(place.store, spec.identifier)
    outputs = work_directory(place.store, spec.identifier)
    session: Session | None = None
    with JournalWriter(path, spec, ready.provenance, files=outputs) as journal:
        try:
            with ready.open(journal) as executor:
                session = Session(spec, executor, () if earlier is None else earlier.trials, watch)
                session.run()
                builds = [dict(line) for line in executor.builds]
        except (UsageError, MissingCapabilityError, RandomizationError):
            # Refused before its first trial: there is nothing to keep, or to go on with.
            if earlier is None and not (session and session.trials):
                journal.discard()
            raise
        journal.append({"stopped": session.stopped})
        journal.sync()
    return session, builds
