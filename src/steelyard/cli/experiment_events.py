"""`steelyard experiment events`: what a program does inside, and whether that goes with its
result."""

from __future__ import annotations

from typing import Any

import click

from steelyard.cli.library_options import JSON, STORE, opened_library, terminal_width
from steelyard.cli.output import write_file, write_json, write_note, write_text
from steelyard.core.errors import UsageError

INTERRUPTED_STATUS = 130
FAILED_STATUS = 3


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
@click.option("--log", metavar="FILE=REGEX", help="A log of the program's; or FILE=json:PATH.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="The first is explained.")
@click.option("--response", metavar="METRIC", help="What to explain; the first metric.")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Blocks of two trials.")
@click.option("--correction", metavar="NAME", help="Of p values over kinds; holm.")
@click.option("--confidence", metavar="SHARE", help="Of what is stated; 95%.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Of order and permutations.")
@click.option("--html", metavar="FILE", help="Write a page that needs no network.")
@click.option("--plots", metavar="DIRECTORY", help="Write the plots as PNG and SVG.")
@click.option("--wait", is_flag=True, help="Wait while another measurement holds the machine.")
@STORE
@JSON
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def command(json_target: str | None, **given: Any) -> int:
    """Record what happens inside each run, and correlate it with the run's result.

    Each block has a trial with and one without recording, so that what recording costs is known.
    """
    from steelyard.app.events import analyze_events
    from steelyard.report.renderings import RENDERINGS

    experiment, said = _study(given, json_target)
    seed = 1 if given["seed"] is None else given["seed"]
    found = analyze_events(experiment, said, seed)
    rendering = RENDERINGS.get(found.result.kind)
    if given["html"] is not None and rendering.page is not None:
        write_file(rendering.page(found.result, found.origin).encode(), given["html"])
    if given["plots"] is not None and rendering.plots is not None:
        rendering.plots(found.result, given["plots"])
    write_json(rendering.document(found.result, found.origin), json_target)
    if json_target != "-":
        write_text(rendering.text(found.result, found.origin, terminal_width()))
        name = experiment.spec.identifier
        write_note(f"kept as {name}: `--experiment {name}` analyses it again")
    if experiment.stopped == "interrupted":
        return INTERRUPTED_STATUS
    failed = any(trial.status == "failed" and not trial.warmup for trial in experiment.trials)
    return FAILED_STATUS if failed else 0


def _study(given: dict[str, Any], json_target: str | None) -> tuple[Any, dict[str, Any]]:
    """The experiment, run or stored, and what is asked of it."""
    from steelyard.app.events import events_file, events_plan
    from steelyard.app.experiment import run_plan
    from steelyard.app.experiment_file import read_experiment_file
    from steelyard.cli.weighing_answer import watching
    from steelyard.cli.weighing_request import place_from

    ways = (given["file"], given["experiment"], given["program"] or None)
    if sum(way is not None for way in ways) != 1:
        raise UsageError(
            "Give one of --file FILE.toml, --experiment EXPERIMENT and a command after --.",
            field="--file",
        )
    said = {name: given[name] for name in ("response", "correction") if given[name] is not None}
    if given["experiment"] is not None:
        with opened_library(given["store"]) as library:
            return library.load(given["experiment"]), said
    path = given["file"]
    file = events_file(_call(given)) if path is None else read_experiment_file(path)
    with watching(json_target) as watch:
        experiment = run_plan(events_plan(file), place_from(given), watch)
    return experiment, {**file.events, **said}


def _call(given: dict[str, Any]) -> Any:
    """What the options ask for, as the tables of a file."""
    from steelyard.app.events import EventsCall

    settings: dict[str, Any] = {
        name: given[name] for name in ("runs", "seed", "confidence") if given[name] is not None
    }
    settings["metrics"] = list(given["metrics"])
    events: dict[str, Any] = {
        name: list(given[name]) for name in ("functions", "probes") if given[name]
    }
    if given["record"] is not None:
        events["record"] = [part.strip() for part in given["record"].split(",") if part.strip()]
    if given["log"] is not None:
        events["log"] = given["log"]
    return EventsCall(given["program"], settings, events)
