"""What the commands that run a study and answer it at once, `cause` and `events`, end with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.cli.analyze.analysis_answer import show_answer
from steelyard.cli.console.hidden import hidden_values
from steelyard.cli.console.output import write_note
from steelyard.cli.store.library_options import opened_library
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.experiment.experiment_plan import Plan
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.core.model import Experiment

INTERRUPTED_STATUS = 130
FAILED_STATUS = 3


def check_one_way(given: dict[str, Any]) -> None:
    """Refuse a call that says in several ways what to study, or in none.

    Raises
    ------
    UsageError
    """
    ways = (given["file"], given["experiment"], given["program"] or None)
    if sum(way is not None for way in ways) != 1:
        raise UsageError(
            "Give one of --file FILE.toml, --experiment EXPERIMENT and a command after --.",
            field="--file",
        )


def stored_study(given: dict[str, Any]) -> Experiment:
    """The experiment that `--experiment` names."""
    if given["recorded_environment"]:
        raise UsageError(
            "--record-env is of an experiment that is run, not of a stored one.",
            field="--record-env",
        )
    with opened_library(given["store"]) as library:
        return library.shown(given["experiment"], hidden_values())


def run_study(planned: Plan, given: dict[str, Any], json_target: str | None) -> Experiment:
    """The experiment, run."""
    from steelyard.app.experiment.run_plan import run_plan
    from steelyard.cli.weigh.weighing_answer import watching
    from steelyard.cli.weigh.weighing_request import place_from

    planned = with_recorded(planned, given["recorded_environment"])
    with watching(json_target) as watch:
        return run_plan(planned, place_from(given), watch)


def with_recorded(planned: Plan, names: tuple[str, ...]) -> Plan:
    """The plan, whose experiment keeps the values of these variables too.

    Raises
    ------
    UsageError
        One is not set.
    """
    from steelyard.app.request.experiment_request import recorded_names

    return replace(planned, spec=replace(planned.spec, recorded_environment=recorded_names(names)))


def show_study(
    found: Analyzed, experiment: Experiment, given: dict[str, Any], json_target: str | None
) -> int:
    """Write the answer wherever it was asked for; the exit status."""
    show_answer(found, given["html"], given["plots"], json_target)
    if json_target != "-" and given["experiment"] is None:
        note_kept(experiment)
    return study_status(experiment)


def note_kept(experiment: Experiment) -> None:
    """Say how to go on with an experiment that was interrupted, and how it is analysed."""
    name = experiment.spec.identifier
    if experiment.stopped == "interrupted":
        write_note(f"kept as {name}: `steelyard experiment resume {name}` goes on with it")
    write_note(f"`steelyard experiment {_analysing(experiment)}` analyses it")


def _analysing(experiment: Experiment) -> str:
    from steelyard.app.experiment.causal_experiment import is_causal

    name = experiment.spec.identifier
    if experiment.spec.events is not None:
        return f"events --experiment {name}"
    return f"cause --experiment {name}" if is_causal(experiment.spec) else f"analyze {name}"


def study_status(experiment: Experiment) -> int:
    """How a command ends that ran this experiment."""
    if experiment.stopped == "interrupted":
        return INTERRUPTED_STATUS
    failed = any(trial.status == "failed" and not trial.warmup for trial in experiment.trials)
    return FAILED_STATUS if failed else 0
