"""`steelyard experiment cause`: does an effect go when what should carry it is held?"""

from __future__ import annotations

from typing import Any

import click

from steelyard.cli.library_options import JSON, STORE, terminal_width
from steelyard.cli.output import write_file, write_json, write_note, write_text
from steelyard.core.errors import UsageError

INTERRUPTED_STATUS = 130
FAILED_STATUS = 3


@click.command("cause", context_settings={"allow_interspersed_args": False})
@click.option("--file", "file", metavar="FILE.toml", help="Take the experiment and its [cause].")
@click.option("--factor", metavar="NAME", help="What is said to have an effect.")
@click.option("--levels", metavar="A,B,C", help="Its levels; drawn where it can draw them.")
@click.option(
    "--intervene",
    "interventions",
    multiple=True,
    metavar="FACTOR=LEVEL",
    help="What the intervention holds; repeatable.",
)
@click.option("--instead", metavar="COMMAND", help="What the intervention runs instead.")
@click.option(
    "--set", "fixed", multiple=True, metavar="FACTOR=LEVEL", help="Of both arms; repeatable."
)
@click.option("--intermediate", metavar="METRIC", help="The metric that should carry the effect.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="The first is explained.")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Blocks.")
@click.option("--tolerance", metavar="SHARE", help="Of the variance that may be left; 25%.")
@click.option("--margin", metavar="SHARE", help="A smaller spread is no effect; 1%.")
@click.option("--confidence", metavar="SHARE", help="Of what is stated; 95%.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Of levels and order.")
@click.option("--html", metavar="FILE", help="Write a page that needs no network.")
@click.option("--plots", metavar="DIRECTORY", help="Write the plot as PNG and SVG.")
@click.option("--wait", is_flag=True, help="Wait while another measurement holds the machine.")
@STORE
@JSON
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def command(json_target: str | None, **given: Any) -> int:
    """Vary a factor without and with an intervention, and say whether its effect goes.

    The experiment comes from --file, or from a command with --factor and --intervene.
    """
    from steelyard.app.cause import analyze_cause, cause_file, cause_plan, cause_question
    from steelyard.app.experiment import run_plan
    from steelyard.app.experiment_file import read_experiment_file
    from steelyard.cli.weighing_answer import watching
    from steelyard.cli.weighing_request import place_from
    from steelyard.report.renderings import RENDERINGS

    if (given["file"] is None) == (not given["program"]):
        raise UsageError("Give either --file FILE.toml or a command after --.", field="--file")
    file = (
        cause_file(_call(given)) if given["file"] is None else read_experiment_file(given["file"])
    )
    planned, question = cause_plan(file), cause_question(file)
    with watching(json_target) as watch:
        experiment = run_plan(planned, place_from(given), watch)
    found = analyze_cause(experiment, question)
    rendering = RENDERINGS.get(found.result.kind)
    if given["html"] is not None and rendering.page is not None:
        write_file(rendering.page(found.result, found.origin).encode(), given["html"])
    if given["plots"] is not None and rendering.plots is not None:
        rendering.plots(found.result, given["plots"])
    write_json(rendering.document(found.result, found.origin), json_target)
    if json_target != "-":
        write_text(rendering.text(found.result, found.origin, terminal_width()))
        name = experiment.spec.identifier
        write_note(f"kept as {name}: `steelyard experiment resume {name}` goes on with it")
    if experiment.stopped == "interrupted":
        return INTERRUPTED_STATUS
    failed = any(trial.status == "failed" and not trial.warmup for trial in experiment.trials)
    return FAILED_STATUS if failed else 0


def _call(given: dict[str, Any]) -> Any:
    """What the options ask for, as the tables of a file."""
    from steelyard.app.cause import CauseCall

    if given["factor"] is None:
        raise UsageError("A command needs --factor: what is said to act.", field="--factor")
    settings: dict[str, Any] = {
        name: given[name] for name in ("runs", "seed", "confidence") if given[name] is not None
    }
    settings["metrics"] = list(given["metrics"])
    cause: dict[str, Any] = {
        name: given[name]
        for name in ("factor", "intermediate", "tolerance", "margin")
        if given[name] is not None
    }
    if given["levels"] is not None:
        cause["levels"] = [part.strip() for part in given["levels"].split(",") if part.strip()]
    if given["instead"] is not None:
        cause["command"] = given["instead"]
    cause["intervention"] = dict(_pairs(given["interventions"], "--intervene"))
    return CauseCall(given["program"], settings, cause, _pairs(given["fixed"], "--set"))


def _pairs(texts: tuple[str, ...], option: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in texts:
        name, equals, level = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} takes FACTOR=LEVEL; it got {text!r}.", field=option)
        found.append((name, level))
    return tuple(found)
