"""The plan of an experiment file, whichever kind of experiment it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.app.experiment.experiment_file import read_experiment_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.app.experiment.design_plan import Plan
    from steelyard.app.experiment.experiment_entries import ExperimentFile


def plan_of_file(path: str, say: Callable[[str], None] | None = None) -> Plan:
    """What the experiment file at `path` will run: a causal experiment, a study of events, or a
    design.

    Parameters
    ----------
    path : str
    say : callable, optional
        Makes programs of the suite ready to be run, and is told of each that is built. Without it
        nothing is fetched or built, but for a study of events, whose functions are looked up in
        its program.

    Raises
    ------
    DataError
        It cannot be read, or a field is unknown, missing or of the wrong kind.
    """
    return plan_of(read_experiment_file(path), say)


def plan_of(read: ExperimentFile, say: Callable[[str], None] | None = None) -> Plan:
    """What an experiment file that has been read will run; see `plan_of_file`."""
    from steelyard.app.suite.suite_program import PlannedWorkshop, Workshop

    workshop = PlannedWorkshop() if say is None else Workshop(say=say)
    if read.cause:
        from steelyard.app.experiment.causal_experiment import cause_plan

        return cause_plan(read, workshop)
    if read.events:
        from steelyard.app.experiment.event_study import events_plan

        return events_plan(read)
    from steelyard.app.experiment.design_plan import experiment_plan

    return experiment_plan(read, workshop)
