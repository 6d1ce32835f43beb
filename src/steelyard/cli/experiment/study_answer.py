"""What the commands that run a study and answer it at once, `cause` and `events`, end with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.cli.analyze.analysis_answer import show_answer
from steelyard.cli.console.masked_values import hidden_values
from steelyard.cli.console.output import write_note
from steelyard.cli.options.option_groups import option
from steelyard.cli.options.shared_options import (
    json_option,
    recorded_environment_option,
    store_option,
    wait_option,
)
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.experiment.design_plan import Plan
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.core.experiment_results import Experiment

INTERRUPTED_STATUS = 130
FAILED_STATUS = 3


@dataclass(frozen=True, kw_only=True)
class StudyAnswerOptions:
    """Where a study is kept, and where its answer goes."""

    html: str | None = option("--html", metavar="FILE", help="Write a page that needs no network.")
    plots: str | None = option(
        "--plots", metavar="DIRECTORY", help="Write the plots as PNG and SVG."
    )
    recorded_environment: tuple[str, ...] = recorded_environment_option()
    wait: bool = wait_option()
    store: str | None = store_option()
    json_target: str | None = json_option()


def study_file_option(table: str) -> str | None:
    """The experiment file that a study comes from, and the table of it that says what is asked."""
    return option("--file", metavar="FILE.toml", help=f"Take the experiment and its [{table}].")


def stored_study_option() -> str | None:
    """The stored experiment that a study is about."""
    return option("--experiment", metavar="EXPERIMENT", help="Analyse a stored study again.")


def check_one_way(file: str | None, experiment: str | None, program: tuple[str, ...]) -> None:
    """Refuse a call that says in several ways what to study, or in none.

    Raises
    ------
    UsageError
    """
    ways = (file, experiment, program or None)
    if sum(way is not None for way in ways) != 1:
        raise UsageError(
            "Give one of --file FILE.toml, --experiment EXPERIMENT and a command after --.",
            field="--file",
        )


def said_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a file's table that the options say something for."""
    return {name: value for name, value in fields.items() if value is not None}


def stored_study(name: str, answer: StudyAnswerOptions) -> Experiment:
    """The experiment that `--experiment` names."""
    if answer.recorded_environment:
        raise UsageError(
            "--record-env is of an experiment that is run, not of a stored one.",
            field="--record-env",
        )
    with opened_library(answer.store) as library:
        return library.shown(name, hidden_values())


def run_study(planned: Plan, answer: StudyAnswerOptions) -> Experiment:
    """The experiment, run."""
    from steelyard.app.running import run_experiment
    from steelyard.cli.weigh.weighing_answer import watching
    from steelyard.cli.weigh.weighing_request import place_from

    planned = with_recorded(planned, answer.recorded_environment)
    with watching(answer.json_target) as watch:
        return run_experiment(planned.spec, place_from(answer.store, answer.wait), watch=watch)


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
    found: Analyzed, experiment: Experiment, answer: StudyAnswerOptions, *, stored: bool
) -> int:
    """Write the answer wherever it was asked for; the exit status."""
    show_answer(found, answer.html, answer.plots, answer.json_target)
    if answer.json_target != "-" and not stored:
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
