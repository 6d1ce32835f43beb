"""`steelyard experiment cause`: does an effect go when what should carry it is held?"""

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
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.experiment.causal_experiment import CauseCall
    from steelyard.app.results.typed_question import Question
    from steelyard.core.experiment_results import Experiment


@dataclass(frozen=True, kw_only=True)
class CauseOptions:
    """What is said to act, how it is held, and what is asked of that."""

    file: str | None = study_file_option("cause")
    experiment: str | None = stored_study_option()
    factor: str | None = option("--factor", metavar="NAME", help="What is said to have an effect.")
    levels: str | None = option(
        "--levels", metavar="A,B,C", help="Its levels; drawn where it can draw them."
    )
    interventions: tuple[str, ...] = option(
        "--intervene",
        multiple=True,
        metavar="FACTOR=LEVEL",
        help="What the intervention holds; repeatable.",
    )
    instead: str | None = option(
        "--instead", metavar="COMMAND", help="What the intervention runs instead."
    )
    fixed: tuple[str, ...] = option(
        "--set", multiple=True, metavar="FACTOR=LEVEL", help="Of both arms; repeatable."
    )
    intermediate: str | None = option(
        "--intermediate", metavar="METRIC", help="The metric that should carry the effect."
    )
    metrics: tuple[str, ...] = option(
        "--metric", multiple=True, metavar="NAME", help="The first is explained."
    )
    runs: int | None = option("--runs", type=RUNS, metavar="N", help="Blocks.")
    tolerance: str | None = option(
        "--tolerance", metavar="SHARE", help="Of the variance that may be left; 25%."
    )
    margin: str | None = option(
        "--margin", metavar="SHARE", help="A smaller spread is no effect; 1%."
    )
    confidence: str | None = option("--confidence", metavar="SHARE", help="Of what is stated; 95%.")
    seed: int | None = option("--seed", type=SEED, metavar="N", help="Of levels and order.")
    answer: StudyAnswerOptions = group(StudyAnswerOptions)


@click.command("cause", context_settings={"allow_interspersed_args": False})
@takes(CauseOptions)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ...]")
def command(given: CauseOptions, program: tuple[str, ...]) -> int:
    """Vary a factor without and with an intervention, and say whether its effect goes.

    The experiment comes from --file, or from a command with --factor and --intervene, or it is a
    stored one.
    """
    from steelyard.app.experiment.causal_experiment import analyze_cause

    experiment, question = _study(given, program)
    found = analyze_cause(experiment, question)
    return show_study(found, experiment, given.answer, stored=given.experiment is not None)


def _study(given: CauseOptions, program: tuple[str, ...]) -> tuple[Experiment, Question]:
    """The experiment, run or stored, and what is asked of it."""
    from steelyard.app.experiment.causal_experiment import (
        cause_file,
        cause_plan,
        cause_question,
        stored_question,
    )
    from steelyard.app.experiment.experiment_file import read_experiment_file

    check_one_way(given.file, given.experiment, program)
    if given.experiment is not None:
        stored = stored_study(given.experiment, given.answer)
        response = next(iter(given.metrics), None)
        asked = {
            **_cause(given),
            **said_fields({"response": response, "confidence": given.confidence}),
        }
        return stored, stored_question(stored.spec, asked)
    file = (
        cause_file(_call(given, program))
        if given.file is None
        else read_experiment_file(given.file)
    )
    return run_study(cause_plan(file), given.answer), cause_question(file)


def _call(given: CauseOptions, program: tuple[str, ...]) -> CauseCall:
    """What the options ask for, as the tables of a file."""
    from steelyard.app.experiment.causal_experiment import CauseCall

    if given.factor is None:
        raise UsageError("A command needs --factor: what is said to act.", field="--factor")
    settings = said_fields({"runs": given.runs, "seed": given.seed, "confidence": given.confidence})
    settings["metrics"] = list(given.metrics)
    cause = _cause(given)
    if given.levels is not None:
        cause["levels"] = [part.strip() for part in given.levels.split(",") if part.strip()]
    if given.instead is not None:
        cause["command"] = given.instead
    cause["intervention"] = dict(_pairs(given.interventions, "--intervene"))
    return CauseCall(program, settings, cause, _pairs(given.fixed, "--set"))


def _cause(given: CauseOptions) -> dict[str, Any]:
    return said_fields(
        {
            "factor": given.factor,
            "intermediate": given.intermediate,
            "tolerance": given.tolerance,
            "margin": given.margin,
        }
    )


def _pairs(texts: tuple[str, ...], option: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in texts:
        name, equals, level = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} takes FACTOR=LEVEL; it got {text!r}.", field=option)
        found.append((name, level))
    return tuple(found)
