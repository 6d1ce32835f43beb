"""The plan of an experiment file, whichever kind of experiment it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.app.experiment.experiment_file import read_experiment_file

if TYPE_CHECKING:
    from steelyard.app.experiment.experiment_plan import Plan


def plan_of_file(path: str) -> Plan:
    """What the experiment file at `path` will run: a causal experiment, a study of events, or a
    design.

    Raises
    ------
    DataError
        It cannot be read, or a field is unknown, missing or of the wrong kind.
    """
    read = read_experiment_file(path)
    if read.cause:
        from steelyard.app.experiment.causal_experiment import cause_plan

        return cause_plan(read)
    if read.events:
        from steelyard.app.experiment.event_study import events_plan

        return events_plan(read)
    from steelyard.app.experiment.experiment_plan import experiment_plan

    return experiment_plan(read)
