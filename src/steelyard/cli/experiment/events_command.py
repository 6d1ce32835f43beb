"""`steelyard experiment events`: what a program does inside, and whether that goes with its
result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli.experiment.study_answer import (
    StudyAnswerOptions,
    check_one_way,
    run_study,
    said_fields,
    show_study,
    stored_study,
    stored_study_option,
    study_file_option,
)
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.option_ranges import RUNS, SEED

if TYPE_CHECKING:
    from steelyard.app.experiment.event_study import EventsCall
    from steelyard.core.experiment_results import Experiment


@dataclass(frozen=True, kw_only=True)
class EventsOptions:
    """What is recorded inside a run, and what is asked of that."""

    file: str | None = study_file_option("events")
    experiment: str | None = stored_study_option()
    record: str | None = option(
        "--record", metavar="A,B", help="Of sched, threads, syscalls, faults; all."
    )
    functions: tuple[str, ...] = option(
        "--function", multiple=True, metavar="[FILE:]NAME", help="Calls; repeatable."
    )
    probes: tuple[str, ...] = option(
        "--probe",
        multiple=True,
        metavar="[FILE:]PROVIDER:NAME",
        help="A static probe; repeatable.",
    )
    stacks: bool = option("--stacks", is_flag=True, help="Also which call paths lead to events.")
    paths: str | None = option(
        "--paths", metavar="MAP", help="The same by a map of paths, without copies of stacks."
    )
    log: str | None = option(
        "--log", metavar="FILE=REGEX", help="A log of the program's; or FILE=json:PATH."
    )
    metrics: tuple[str, ...] = option(
        "--metric", multiple=True, metavar="NAME", help="The first is explained."
    )
    response: str | None = option(
        "--response", metavar="METRIC", help="What to explain; the first metric."
    )
    runs: int | None = option("--runs", type=RUNS, metavar="N", help="Blocks of two trials.")
    correction: str | None = option(
        "--correction", metavar="NAME", help="Of p values over kinds; holm."
    )
    confidence: str | None = option("--confidence", metavar="SHARE", help="Of what is stated; 95%.")
    seed: int | None = option("--seed", type=SEED, metavar="N", help="Of order and permutations.")
    answer: StudyAnswerOptions = group(StudyAnswerOptions)


@click.command("events", context_settings={"allow_interspersed_args": False})
@takes(EventsOptions)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def command(given: EventsOptions, program: tuple[str, ...]) -> int:
    """Record what happens inside each run, and correlate it with the run's result.

    Each block has a trial with and one without recording, so that what recording costs is known.
    """
    from steelyard.app.experiment.event_study import analyze_events

    experiment, said = _study(given, program)
    found = analyze_events(experiment, said, 1 if given.seed is None else given.seed)
    return show_study(found, experiment, given.answer, stored=given.experiment is not None)


def _study(given: EventsOptions, program: tuple[str, ...]) -> tuple[Experiment, dict[str, Any]]:
    """The experiment, run or stored, and what is asked of it."""
    from steelyard.app.experiment.event_study import events_file, events_plan
    from steelyard.app.experiment.experiment_file import read_experiment_file

    check_one_way(given.file, given.experiment, program)
    said = said_fields({"response": given.response, "correction": given.correction})
    if given.experiment is not None:
        return stored_study(given.experiment, given.answer), said
    path = given.file
    file = events_file(_call(given, program)) if path is None else read_experiment_file(path)
    return run_study(events_plan(file), given.answer), {**file.events, **said}


def _call(given: EventsOptions, program: tuple[str, ...]) -> EventsCall:
    """What the options ask for, as the tables of a file."""
    from steelyard.app.experiment.event_study import EventsCall

    settings = said_fields({"runs": given.runs, "seed": given.seed, "confidence": given.confidence})
    settings["metrics"] = list(given.metrics)
    events: dict[str, Any] = {}
    if given.functions:
        events["functions"] = list(given.functions)
    if given.probes:
        events["probes"] = list(given.probes)
    if given.record is not None:
        events["record"] = [part.strip() for part in given.record.split(",") if part.strip()]
    if given.stacks:
        events["stacks"] = True
    if given.paths is not None:
        events["paths"] = given.paths
    if given.log is not None:
        events["log"] = given.log
    return EventsCall(program, settings, events)
