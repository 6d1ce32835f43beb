"""`steelyard dimension`: how often to repeat builds, executions and iterations."""

from __future__ import annotations

import click

from steelyard.app.dimension import Dimensioned, Question
from steelyard.cli.library_options import JSON, STORE, opened_library, terminal_width
from steelyard.cli.output import write_json, write_text
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_duration, parse_ratio

HELP = """
How often to repeat each level of an experiment, why, and what precision that buys.

Reads an initial experiment: a stored EXPERIMENT (an identifier, the beginning of one, or
`latest`), or a table with one row a measurement and a column for each repetition level.

\b
steelyard dimension --import times.csv --cost build=90s
steelyard measure --runs 30 -- ./program; steelyard dimension latest --budget 10min
"""


@click.command("dimension", help=HELP, short_help="Best repetition counts, and their precision.")
@click.option(
    "--import",
    "file",
    metavar="FILE",
    help="CSV with a column for each level, highest first, `value`, and `cost_LEVEL_s`.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="LEVEL=TIME",
    help="Time that one more repetition of a level adds by itself.",
)
@click.option("--budget", metavar="TIME", help="Also tell what half-width this time buys.")
@click.option(
    "--confidence",
    default="95%",
    show_default=True,
    metavar="SHARE",
    help="Confidence of the intervals.",
)
@click.option(
    "--estimator",
    type=click.Choice(["anova", "reml"]),
    default="anova",
    show_default=True,
    help="Of variances: unbiased, or restricted maximum likelihood.",
)
@click.option("--unit", metavar="UNIT", help="Unit of the values of FILE; s unless given.")
@click.option("--variant", metavar="NAME", help="The variant of EXPERIMENT, if it has several.")
@click.option("--metric", metavar="NAME", help="The metric of EXPERIMENT instead of the first.")
@STORE
@JSON
@click.argument("experiment", nargs=-1)
def command(
    experiment: tuple[str, ...],
    file: str | None,
    costs: tuple[str, ...],
    budget: str | None,
    json_target: str | None,
    **names: str | None,
) -> None:
    """Read, answer, show."""
    from steelyard.report.dimensioning_text import dimensioning_text
    from steelyard.report.json.dimensioning import dimensioning_document

    question = Question(
        costs_s=dict(_cost(text) for text in costs),
        budget_s=None if budget is None else parse_duration(budget, "--budget"),
        confidence=parse_ratio(names["confidence"] or "", "--confidence"),
        method="reml" if names["estimator"] == "reml" else "anova",
    )
    found = _dimensioned(experiment, file, question, names)
    source = {"file": found.file, "experiment": found.experiment, "variant": found.variant}
    write_json(dimensioning_document(found.answer, found.metric, source), json_target)
    if json_target != "-":
        write_text(dimensioning_text(found.answer, found.metric, terminal_width()))


def _cost(text: str) -> tuple[str, float]:
    level, equals, time = text.rpartition("=")
    if not equals or not level:
        raise UsageError(
            f"--cost takes LEVEL=TIME, such as build=90s; it got {text!r}.", field="--cost"
        )
    return level, parse_duration(time, "--cost")


def _dimensioned(
    experiment: tuple[str, ...], file: str | None, question: Question, names: dict[str, str | None]
) -> Dimensioned:
    from steelyard.app.dimension import dimension_experiment, dimension_table

    if len(experiment) + (file is not None) != 1:
        raise UsageError(
            "dimension takes one initial experiment: a stored EXPERIMENT or --import FILE. To run "
            "one of a program: `steelyard measure --runs 30 -- CMD`, then "
            "`steelyard dimension latest`.",
            field="EXPERIMENT",
        )
    if file is not None:
        _refuse(names, ("variant", "metric"), "an EXPERIMENT, not to --import")
        return dimension_table(file, names["unit"] or "s", question)
    _refuse(names, ("unit",), "--import, not to an EXPERIMENT")
    with opened_library(names["store"]) as library:
        loaded = library.load(experiment[0])
    return dimension_experiment(loaded, names["variant"], names["metric"], question)


def _refuse(names: dict[str, str | None], options: tuple[str, ...], where: str) -> None:
    for option in options:
        if names[option] is not None:
            raise UsageError(f"--{option} belongs to {where}.", field=f"--{option}")
