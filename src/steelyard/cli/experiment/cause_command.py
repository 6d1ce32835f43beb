"""`steelyard experiment cause`: does an effect go when what should carry it is held?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli.experiment.study_answer import check_one_way, run_study, show_study, stored_study
from steelyard.cli.options.strict_options import RUNS, SEED
from steelyard.cli.store.library_options import JSON, STORE
from steelyard.cli.weigh.weighing_options import RECORD_OPTION
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.analysis.method import Question
    from steelyard.core.model import Experiment


@click.command("cause", context_settings={"allow_interspersed_args": False})
@click.option("--file", "file", metavar="FILE.toml", help="Take the experiment and its [cause].")
@click.option("--experiment", metavar="EXPERIMENT", help="Analyse a stored one again.")
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
@click.option("--runs", type=RUNS, metavar="N", help="Blocks.")
@click.option("--tolerance", metavar="SHARE", help="Of the variance that may be left; 25%.")
@click.option("--margin", metavar="SHARE", help="A smaller spread is no effect; 1%.")
@click.option("--confidence", metavar="SHARE", help="Of what is stated; 95%.")
@click.option("--seed", type=SEED, metavar="N", help="Of levels and order.")
@click.option("--html", metavar="FILE", help="Write a page that needs no network.")
@click.option("--plots", metavar="DIRECTORY", help="Write the plot as PNG and SVG.")
@RECORD_OPTION
@click.option("--wait", is_flag=True, help="Wait while another measurement holds the machine.")
@STORE
@JSON
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def command(json_target: str | None, **given: Any) -> int:
    """Vary a factor without and with an intervention, and say whether its effect goes.

    The experiment comes from --file, or from a command with --factor and --intervene, or it is a
    stored one.
    """
    from steelyard.app.experiment.causal_experiment import analyze_cause

    experiment, question = _study(given, json_target)
    return show_study(analyze_cause(experiment, question), experiment, given, json_target)


def _study(given: dict[str, Any], json_target: str | None) -> tuple[Experiment, Question]:
    """The experiment, run or stored, and what is asked of it."""
    from steelyard.app.experiment.causal_experiment import (
        cause_file,
        cause_plan,
        cause_question,
        stored_question,
    )
    from steelyard.app.experiment.experiment_file import read_experiment_file

    check_one_way(given)
    if given["experiment"] is not None:
        stored = stored_study(given)
        asked = {**_cause(given), "response": next(iter(given["metrics"]), None)}
        asked["confidence"] = given["confidence"]
        known = {name: value for name, value in asked.items() if value is not None}
        return stored, stored_question(stored.spec, known)
    path = given["file"]
    file = cause_file(_call(given)) if path is None else read_experiment_file(path)
    return run_study(cause_plan(file), given, json_target), cause_question(file)


def _call(given: dict[str, Any]) -> Any:
    """What the options ask for, as the tables of a file."""
    from steelyard.app.experiment.causal_experiment import CauseCall

    if given["factor"] is None:
        raise UsageError("A command needs --factor: what is said to act.", field="--factor")
    settings: dict[str, Any] = {
        name: given[name] for name in ("runs", "seed", "confidence") if given[name] is not None
    }
    settings["metrics"] = list(given["metrics"])
    cause = _cause(given)
    if given["levels"] is not None:
        cause["levels"] = [part.strip() for part in given["levels"].split(",") if part.strip()]
    if given["instead"] is not None:
        cause["command"] = given["instead"]
    cause["intervention"] = dict(_pairs(given["interventions"], "--intervene"))
    return CauseCall(given["program"], settings, cause, _pairs(given["fixed"], "--set"))


def _cause(given: dict[str, Any]) -> dict[str, Any]:
    names = ("factor", "intermediate", "tolerance", "margin")
    return {name: given[name] for name in names if given[name] is not None}


def _pairs(texts: tuple[str, ...], option: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in texts:
        name, equals, level = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} takes FACTOR=LEVEL; it got {text!r}.", field=option)
        found.append((name, level))
    return tuple(found)
