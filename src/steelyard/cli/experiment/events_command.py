"""`steelyard experiment events`: what a program does inside, and whether that goes with its
result."""

from __future__ import annotations

from typing import Any

import click

from steelyard.cli.experiment.study_answer import check_one_way, run_study, show_study, stored_study
from steelyard.cli.options.strict_options import RUNS, SEED
from steelyard.cli.store.library_options import JSON, STORE
from steelyard.cli.weigh.weighing_options import RECORD_OPTION


@click.command("events", context_settings={"allow_interspersed_args": False})
@click.option("--file", "file", metavar="FILE.toml", help="Take the experiment and its [events].")
@click.option("--experiment", metavar="EXPERIMENT", help="Analyse a stored study again.")
@click.option("--record", metavar="A,B", help="Of sched, threads, syscalls, faults; all.")
@click.option(
    "--function", "functions", multiple=True, metavar="[FILE:]NAME", help="Calls; repeatable."
)
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="[FILE:]PROVIDER:NAME",
    help="A static probe; repeatable.",
)
@click.option("--stacks", is_flag=True, help="Also which call paths lead to events.")
@click.option("--log", metavar="FILE=REGEX", help="A log of the program's; or FILE=json:PATH.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="The first is explained.")
@click.option("--response", metavar="METRIC", help="What to explain; the first metric.")
@click.option("--runs", type=RUNS, metavar="N", help="Blocks of two trials.")
@click.option("--correction", metavar="NAME", help="Of p values over kinds; holm.")
@click.option("--confidence", metavar="SHARE", help="Of what is stated; 95%.")
@click.option("--seed", type=SEED, metavar="N", help="Of order and permutations.")
@click.option("--html", metavar="FILE", help="Write a page that needs no network.")
@click.option("--plots", metavar="DIRECTORY", help="Write the plots as PNG and SVG.")
@RECORD_OPTION
@click.option("--wait", is_flag=True, help="Wait while another measurement holds the machine.")
@STORE
@JSON
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def command(json_target: str | None, **given: Any) -> int:
    """Record what happens inside each run, and correlate it with the run's result.

    Each block has a trial with and one without recording, so that what recording costs is known.
    """
    from steelyard.app.experiment.event_study import analyze_events

    experiment, said = _study(given, json_target)
    found = analyze_events(experiment, said, 1 if given["seed"] is None else given["seed"])
    return show_study(found, experiment, given, json_target)


def _study(given: dict[str, Any], json_target: str | None) -> tuple[Any, dict[str, Any]]:
    """The experiment, run or stored, and what is asked of it."""
    from steelyard.app.experiment.event_study import events_file, events_plan
    from steelyard.app.experiment.experiment_file import read_experiment_file

    check_one_way(given)
    said = {name: given[name] for name in ("response", "correction") if given[name] is not None}
    if given["experiment"] is not None:
        return stored_study(given), said
    path = given["file"]
    file = events_file(_call(given)) if path is None else read_experiment_file(path)
    return run_study(events_plan(file), given, json_target), {**file.events, **said}


def _call(given: dict[str, Any]) -> Any:
    """What the options ask for, as the tables of a file."""
    from steelyard.app.experiment.event_study import EventsCall

    settings: dict[str, Any] = {
        name: given[name] for name in ("runs", "seed", "confidence") if given[name] is not None
    }
    settings["metrics"] = list(given["metrics"])
    events: dict[str, Any] = {
        name: list(given[name]) for name in ("functions", "probes") if given[name]
    }
    if given["record"] is not None:
        events["record"] = [part.strip() for part in given["record"].split(",") if part.strip()]
    if given["stacks"]:
        events["stacks"] = True
    if given["log"] is not None:
        events["log"] = given["log"]
    return EventsCall(given["program"], settings, events)
