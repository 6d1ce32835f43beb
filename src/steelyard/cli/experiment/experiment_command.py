"""`steelyard experiment`: what to vary, what to randomise and what to measure, from a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from steelyard.cli.analyze.analysis_answer import show_answer
from steelyard.cli.console.masked_values import hidden_values
from steelyard.cli.console.output import (
    terminal_width,
    write_file,
    write_json,
    write_note,
    write_text,
)
from steelyard.cli.experiment.cause_command import command as cause
from steelyard.cli.experiment.events_command import command as events
from steelyard.cli.experiment.experiment_options import (
    AnalyzeRunOptions,
    InitOptions,
    PlanOptions,
    ResumeOptions,
    RunOptions,
)
from steelyard.cli.experiment.study_answer import note_kept, study_status, with_recorded
from steelyard.cli.options.option_groups import takes
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.masked_experiment import masked_experiment
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.experiment.design_plan import Plan
    from steelyard.app.results.typed_question import Question
    from steelyard.core.experiment_results import Experiment

_FILE = click.argument("file", metavar="FILE.toml")


@click.group("experiment", short_help="Factors, designs and analyses, from an experiment file.")
def command() -> None:
    """What to vary, what to randomise and what to measure, from an experiment file."""


command.add_command(cause)
command.add_command(events)


@command.command("init")
@takes(InitOptions)
@_FILE
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def init(given: InitOptions, file: str, program: tuple[str, ...]) -> None:
    """Write an experiment file that explains itself, about COMMAND if one is given."""
    from steelyard.app.experiment.first_file import first_file

    words = program[1:] if program[:1] == ("--",) else program
    write_file(first_file(file, given.kind, words).encode(), file)
    write_note(f"wrote {file}; next: steelyard experiment plan {file}")


@command.command("plan")
@takes(PlanOptions)
@_FILE
def plan(given: PlanOptions, file: str) -> None:
    """Say what FILE.toml will run, how many trials that is and how long it takes."""
    from steelyard.app.experiment.plan_of_file import plan_of_file

    _show_plan(plan_of_file(file), given.json_target)


@command.command("run")
@takes(RunOptions)
@_FILE
def run(given: RunOptions, file: str) -> int:
    """Run all trials of FILE.toml in random order, and keep them in the store."""
    from steelyard.app.experiment.plan_of_file import plan_of_file
    from steelyard.app.running import run_experiment

    say = None if given.dry_run else write_note
    planned = with_recorded(plan_of_file(file, say), given.recorded_environment)
    if given.dry_run:
        from steelyard.app.running import planned_refusals
        from steelyard.report.kinds.plan.text import command_line

        write_text("".join(f"{command_line(variant)}\n" for variant in planned.spec.variants))
        for refusal in planned_refusals(planned.spec):
            raise refusal
        return 0
    from steelyard.cli.weigh.weighing_answer import watching
    from steelyard.cli.weigh.weighing_request import place_from

    with watching(given.json_target) as watch:
        experiment = run_experiment(planned.spec, place_from(given.store, given.wait), watch=watch)
    _show_run(masked_experiment(experiment), given.json_target)
    return study_status(experiment)


@command.command("resume")
@takes(ResumeOptions)
@click.argument("experiment")
def resume(given: ResumeOptions, experiment: str) -> int:
    """Run the trials that an interrupted EXPERIMENT still lacks."""
    from steelyard.app.experiment.weigh import weigh_further
    from steelyard.cli.weigh.weighing_answer import watching
    from steelyard.cli.weigh.weighing_request import place_from

    with watching(given.json_target) as watch:
        place = place_from(given.store, given.wait)
        done = weigh_further(experiment, None, place, watch).experiment
    _show_run(done, given.json_target)
    return study_status(done)


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of experiment files, for editors and other programs."""
    from steelyard.app.experiment.experiment_fields import experiment_schema

    write_text(json.dumps(experiment_schema(), indent=2, ensure_ascii=False) + "\n")


@command.command("analyze")
@takes(AnalyzeRunOptions)
@click.argument("experiment", default="latest")
def analyze(given: AnalyzeRunOptions, experiment: str) -> None:
    """Analyse EXPERIMENT (an identifier, the beginning of one, or `latest`)."""
    from steelyard.app.experiment.asked_analysis import asked_file, asked_table
    from steelyard.app.experiment.design_analysis import analyze_run
    from steelyard.app.experiment.experiment_file import read_experiment_file

    with opened_library(given.store) as library:
        loaded = library.shown(experiment, hidden_values())
    said = asked_table(loaded.spec, "analysis")
    if given.file is not None:
        said = read_experiment_file(given.file).analysis
    found = analyze_run(loaded, said, given.method, _question(given))
    if given.follow_up is not None:
        from steelyard.app.experiment.follow_up import screening_follow_up

        text = screening_follow_up(found.result, given.file or asked_file(loaded.spec))
        write_file(text.encode(), given.follow_up)
    show_answer(found, given.html, given.plots, given.json_target)


def _show_plan(planned: Plan, json_target: str | None) -> None:
    from steelyard.app.running import planned_refusals
    from steelyard.report.kinds.plan.document import plan_document, power_document
    from steelyard.report.kinds.plan.text import (
        design_lines,
        plan_lines,
        power_lines,
        refusal_lines,
        size_line,
    )

    sizes = (planned.trial_count, planned.block_count, planned.estimated_s)
    document = plan_document(planned.spec, planned.factors, sizes, planned.skipped, planned.design)
    refused = [refusal.message for refusal in planned_refusals(planned.spec)]
    document["refused"] = refused
    if planned.power is not None:
        document["power"] = power_document(planned.power)
    write_json(document, json_target)
    if json_target == "-":
        return
    lines = plan_lines(planned.factors, planned.nuisance, planned.skipped, planned.spec.setup_each)
    lines += design_lines(planned.design) + power_lines(planned.power)
    lines += refusal_lines(refused)
    size = size_line(
        planned.block_count,
        planned.block_trial_count,
        len(planned.spec.variants),
        planned.estimated_s,
    )
    write_text("\n".join([*lines, size]) + "\n")


def _show_run(experiment: Experiment, json_target: str | None) -> None:
    from steelyard.report.kinds.experiment.document import experiment_document
    from steelyard.report.kinds.experiment.text import experiment_text

    write_json(experiment_document(experiment), json_target)
    if json_target != "-":
        width = terminal_width()
        write_text(experiment_text(experiment, running=False, trials=False, width=width))
        note_kept(experiment)


def _question(given: AnalyzeRunOptions) -> Question:
    from steelyard.app.results.typed_question import Question, method_options

    return Question(
        response=given.response,
        factors=_listed(given.factors),
        quantiles=tuple(parse_ratio(p, "--quantiles") for p in _listed(given.quantiles)),
        confidence=parse_ratio(given.confidence, "--confidence"),
        seed=given.seed,
        extra=method_options(given.options),
    )


def _listed(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(part.strip() for part in text.split(",") if part.strip())
