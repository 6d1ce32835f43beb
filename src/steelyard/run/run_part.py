"""Run a part of a plan on this machine: what a program does that an executor has sent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from steelyard.core.experiment_results import Trial
from steelyard.design.plan_part import PlanPart
from steelyard.executors.executor import OpenExecutor, Workplace
from steelyard.executors.kinds import EXECUTORS
from steelyard.executors.local.left_files import left_line
from steelyard.measure.journal_reader import read_journal
from steelyard.measure.trial_journal import JournalWriter
from steelyard.run.kept_archives import give_archive
from steelyard.run.run_experiment import LOCAL, Place
from steelyard.run.trial_session import check_primary

# Details of a trial that name files.
_FILES = ("output", "log")


@dataclass(frozen=True)
class PartResult:
    """What came of a part of a plan.

    Parameters
    ----------
    part : PlanPart
    trials : tuple of Trial
        Failed ones too. Without those that an interruption left undone.
    provenance : mapping
        The machine, the programs, and under ``builds`` what was built.
    interrupted : bool
    """

    part: PlanPart
    trials: tuple[Trial, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict[str, Any])
    interrupted: bool = False


def run_part(part: PlanPart, place: Place | None = None, archives: str | None = None) -> PartResult:
    """Run the trials of `part` in their order, as a session on this machine runs them.

    Parameters
    ----------
    part : PlanPart
    place : Place, optional
        Whether to wait for the machine, and who is told. Its store is not used: the trials go to
        whoever asked for them.
    archives : str, optional
        A directory for the archives of results of packages, each under its trial's position.

    Raises
    ------
    BusyError, UsageError, MissingCapabilityError
        The part cannot be run here, or not now.
    LauncherDiedError, TrialsFailedError
        Midway.
    """
    spec = part.experiment
    with tempfile.TemporaryDirectory(prefix="steelyard-part-") as directory:
        outputs, logs = os.path.join(directory, "work"), os.path.join(directory, "logs")
        asked = place or Place(directory)
        workplace = Workplace(outputs, logs, asked.wait, asked.say, asked.tell_quiet)
        path = os.path.join(directory, "journal")
        with EXECUTORS.get(LOCAL).ready(spec, workplace) as ready:
            provenance = ready.provenance
            with JournalWriter(path, spec, provenance, files=outputs) as journal:
                with ready.open(journal) as executor:
                    interrupted = _run_trials(part, executor)
                # Its lines have every trial that ended, whenever somebody interrupted.
                done = read_journal(path, take=left_line)
        trials = tuple(_without_files(give_archive(each, archives)) for each in done.trials)
    return PartResult(part, trials, done.provenance, interrupted)


def _run_trials(part: PlanPart, executor: OpenExecutor) -> bool:
    """Run all; whether somebody interrupted that."""
    waiting = len(part.trials)
    try:
        executor.submit(part.trials)
        while waiting:
            for trial in executor.take():
                waiting -= 1
                check_primary(part.experiment, trial)
    except KeyboardInterrupt:
        executor.abandon()
        return True
    return False


def _without_files(trial: Trial) -> Trial:
    """`trial` without the names of files that went with the part's directory."""
    details = {name: value for name, value in trial.details.items() if name not in _FILES}
    return replace(trial, details=details)
