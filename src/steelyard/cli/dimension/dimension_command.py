"""`steelyard dimension`: how often to repeat builds, executions and iterations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import click

from steelyard.app.dimension.dimension_data import Dimensioned, Question
from steelyard.app.dimension.initial_experiment import initial_counts, names_experiment
from steelyard.app.request.command_text import is_suite_name
from steelyard.cli.console.output import terminal_width, write_json, write_page, write_text
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import (
    json_option,
    share_option,
    store_option,
)
from steelyard.cli.store.opened_library import opened_library
from steelyard.cli.weigh.program_options import IterationOptions, LevelOptions, ProgramOptions
from steelyard.cli.weigh.weighing_answer import FAILED_STATUS, INTERRUPTED_STATUS, watching
from steelyard.cli.weigh.weighing_options import (
    JudgingOptions,
    MachineOptions,
    SessionOptions,
    StoppingOptions,
    WeighingOptions,
)
from steelyard.cli.weigh.weighing_request import (
    builds_asked,
    place_from,
    request_from,
    split_commands,
)
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_duration, parse_ratio

if TYPE_CHECKING:
    from steelyard.core.experiment_results import Experiment

HELP = """
How often to repeat each level of an experiment, why, and what precision that buys.

Runs an initial experiment of CMD, or reads one: a stored EXPERIMENT (an identifier, the beginning
of one, or `latest`), or a table with one row a measurement and a column for each repetition level.

\b
steelyard dimension --iterations json-lines -- ./bench
steelyard dimension --build 'make bench' --build-source src '{build}/bench'
steelyard dimension --import times.csv --cost build=90s
steelyard dimension latest --budget 10min --html page.html
"""
# What each way to be called with has a use for; whatever else is given is refused.
_ANSWER = {"costs", "budget", "confidence", "estimator", "html_target", "json_target"}
_OF_FILE = frozenset({*_ANSWER, "file", "unit"})
_OF_KEPT = frozenset({*_ANSWER, "kept", "store"})
_OF_STORED = frozenset({*_ANSWER, "variant", "metrics", "store"})
_NOT_OF_RUN = frozenset({"file", "unit", "kept", "variant"})


@dataclass(frozen=True, kw_only=True)
class DimensionOptions:
    """What dimension takes."""

    program: ProgramOptions = group(ProgramOptions)
    iteration: IterationOptions = group(IterationOptions)
    level: LevelOptions = group(LevelOptions)
    initial_budget: str | None = option(
        "--initial-budget",
        metavar="TIME|RUNS",
        help="End the initial experiment at this time or number of trials.",
    )
    session: SessionOptions = group(SessionOptions)
    machine: MachineOptions = group(MachineOptions)
    file: str | None = option(
        "--import",
        metavar="FILE",
        help="CSV with a column for each level, highest first, `value`, and `cost_LEVEL_s`.",
    )
    costs: tuple[str, ...] = option(
        "--cost",
        multiple=True,
        metavar="LEVEL=TIME",
        help="Time that one more repetition of a level adds by itself.",
    )
    budget: str | None = option(
        "--budget", metavar="TIME", help="Also tell what half-width this time buys."
    )
    confidence: str = share_option("--confidence", "95%", "Confidence of the intervals.")
    estimator: Literal["anova", "reml"] = option(
        "--estimator",
        type=click.Choice(["anova", "reml"]),
        default="anova",
        show_default=True,
        help="Of variances: unbiased, or restricted maximum likelihood.",
    )
    unit: str | None = option(
        "--unit", metavar="UNIT", help="Unit of the values of FILE; s unless given."
    )
    variant: str | None = option(
        "--variant", metavar="NAME", help="The variant of EXPERIMENT, if it has several."
    )
    kept: bool = option("--kept", is_flag=True, help="Show all that --dimensioned can take.")
    html_target: str | None = option(
        "--html", metavar="FILE", help="Write a page that needs no network."
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("dimension", help=HELP, short_help="Best repetition counts, and their precision.")
@takes(DimensionOptions)
@click.argument("words", metavar="[--] CMD [ARG]... | EXPERIMENT", nargs=-1)
def command(given: DimensionOptions, words: tuple[str, ...]) -> int:
    """Run or read, answer, show."""
    from steelyard.report.kinds.dimensioning.document import dimensioning_document
    from steelyard.report.kinds.dimensioning.text import dimensioning_text

    question = Question(
        costs_s=dict(_cost(text) for text in given.costs),
        budget_s=None if given.budget is None else parse_duration(given.budget, "--budget"),
        confidence=parse_ratio(given.confidence, "--confidence"),
        method=given.estimator,
    )
    if given.kept:
        return _show_kept(words, question, given)
    found, ran = _dimensioned(words, question, given)
    _write_page((found,), given.html_target)
    source = {"file": found.file, "experiment": found.experiment, "variant": found.variant}
    write_json(dimensioning_document(found.answer, found.metric, source), given.json_target)
    if given.json_target != "-":
        text = dimensioning_text(found.answer, found.metric, terminal_width())
        write_text(text + _origin(found, ran))
    return _status(ran)


def _show_kept(words: tuple[str, ...], question: Question, given: DimensionOptions) -> int:
    """All dimensionings of the store, side by side."""
    from steelyard.app.dimension.kept_dimensionings import kept_dimensionings
    from steelyard.report.kinds.dimensioning.several_document import dimensionings_document
    from steelyard.report.kinds.dimensioning.summary_text import summary_text

    if words or given.file is not None:
        raise UsageError("--kept takes no program, experiment or file beside it.", field="--kept")
    refuse_idle("to --kept", _OF_KEPT)
    with opened_library(given.store) as library:
        found = kept_dimensionings(library, question)
    _write_page(found, given.html_target)
    write_json(
        dimensionings_document([(_name(item), item.answer, item.metric) for item in found]),
        given.json_target,
    )
    if given.json_target != "-":
        write_text(summary_text([(_name(item), item.answer) for item in found], terminal_width()))
    return 0


def _name(found: Dimensioned) -> str:
    return found.variant or found.file or ""


def _write_page(found: tuple[Dimensioned, ...], target: str | None) -> None:
    if target is None:
        return
    from steelyard.report.kinds.dimensioning.page import Shown, dimensioning_page

    shown = [Shown(_name(item), item.answer, item.metric) for item in found]
    write_page(dimensioning_page(shown), target)


def _origin(found: Dimensioned, ran: Experiment | None) -> str:
    if found.experiment is None:
        return ""
    lines = [f"\nexperiment {found.experiment}"]
    if ran is not None and ran.stopped not in ("runs", None):
        lines.append(
            f"It ended early ({ran.stopped}). `steelyard resume {found.experiment}` goes on with "
            f"it, and `steelyard dimension {found.experiment}` reads it again."
        )
    if found.kept:
        lines.append("`--dimensioned` of measure and compare takes these counts.")
    return "\n".join(lines) + "\n"


def _status(ran: Experiment | None) -> int:
    if ran is None:
        return 0
    if any(trial.status == "failed" for trial in ran.trials):
        return FAILED_STATUS
    return INTERRUPTED_STATUS if ran.stopped == "interrupted" else 0


def _cost(text: str) -> tuple[str, float]:
    level, equals, time = text.rpartition("=")
    if not equals or not level:
        raise UsageError(
            f"--cost takes LEVEL=TIME, such as build=90s; it got {text!r}.", field="--cost"
        )
    return level, parse_duration(time, "--cost")


def _dimensioned(
    words: tuple[str, ...], question: Question, given: DimensionOptions
) -> tuple[Dimensioned, Experiment | None]:
    """The answer, and the initial experiment if it was run just now."""
    from steelyard.app.dimension.dimension_data import dimension_table
    from steelyard.app.dimension.stored_dimensioning import dimension_stored

    file = given.file
    if bool(words) + (file is not None) != 1:
        raise UsageError(
            "dimension takes one initial experiment: CMD to run one, a stored EXPERIMENT, or "
            "--import FILE.",
            field="EXPERIMENT",
        )
    if file is not None:
        refuse_idle("to --import", _OF_FILE)
        return dimension_table(file, given.unit or "s", question), None
    refuse_idle("to an EXPERIMENT or a CMD; it belongs to --import", all_but({"unit"}))
    if not names_experiment(words) or given.program.shell:
        return _run(words, question, given)
    refuse_idle("to a stored EXPERIMENT", _OF_STORED)
    if len(given.program.metrics) > 1:
        raise UsageError("Of an EXPERIMENT one --metric is dimensioned.", field="--metric")
    metric = given.program.metrics[0] if given.program.metrics else None
    with opened_library(given.store) as library:
        loaded = library.load(words[0])
        return dimension_stored(library, loaded, given.variant, metric, question), None


def _run(
    words: tuple[str, ...], question: Question, given: DimensionOptions
) -> tuple[Dimensioned, Experiment]:
    from steelyard.app.dimension.dimension_data import run_initial
    from steelyard.app.dimension.stored_dimensioning import dimension_stored

    refuse_idle("to a CMD", all_but(_NOT_OF_RUN))
    if given.program.shell:
        commands = ((" ".join(words),),)
    else:
        commands = split_commands(words, shell=False) if len(words) == 1 else (words,)
    with watching(given.json_target) as watch:
        place = place_from(given.store, given.machine.wait)
        experiment = run_initial(request_from(commands, _initial(commands, given)), place, watch)
    with opened_library(given.store) as library:
        return dimension_stored(library, experiment, None, None, question), experiment


def _initial(commands: tuple[tuple[str, ...], ...], given: DimensionOptions) -> WeighingOptions:
    """The initial experiment: no comparison, and it stops at its counts."""
    counts = initial_counts(
        given.level.levels,
        given.level.repeat,
        builds=builds_asked(commands, given.level),
        iterations=given.iteration.iterations is not None or _suite_iterates(commands),
    )
    return WeighingOptions(
        program=given.program,
        iteration=given.iteration,
        level=replace(given.level, repeat=counts),
        stopping=StoppingOptions(budget=given.initial_budget),
        judging=JudgingOptions(confidence=given.confidence),
        session=given.session,
        machine=given.machine,
    )


def _suite_iterates(commands: tuple[tuple[str, ...], ...]) -> bool:
    """Whether these are programs of the suite that write their iterations."""
    if not is_suite_name(commands[0][0]):
        return False
    from steelyard.app.request.request import Request
    from steelyard.app.suite.suite_variants import suite_iterations

    return suite_iterations(Request(commands)) is not None
