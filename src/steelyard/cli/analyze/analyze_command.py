"""`steelyard analyze`: any analysis on any table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.analyze.analysis_answer import show_answer
from steelyard.cli.console.masked_values import hidden_values
from steelyard.cli.console.output import write_note
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.option_ranges import SEED
from steelyard.cli.options.shared_options import (
    json_option,
    share_option,
    store_option,
)
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.app.results.typed_question import Method, Question

HELP = """
Answer a question about a table of data, or about a stored experiment.

DATA is a CSV file, or a stored experiment: an identifier, the beginning of one, or `latest`.
Methods read one row a measurement, with a column for each repetition level and `value`, or
one row a trial, with the columns that --response and --factors name.

\b
steelyard analyze iterations.csv --method states
steelyard analyze trials.csv --method anova --response time --factors compiler,level
"""


class MethodList(click.ParamType[str]):
    """The name of a method; the list of them is only made where it is shown."""

    name = "method"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        from steelyard.app.results.typed_question import method_names

        return f"[{'|'.join(method_names())}]"


@dataclass(frozen=True, kw_only=True)
class AnalyzeOptions:
    """What analyze takes."""

    method: str = option("--method", required=True, type=MethodList(), help="The analysis.")
    response: str | None = option("--response", metavar="COLUMN", help="The column to explain.")
    factors: str | None = option("--factors", metavar="A,B,C", help="The columns to explain it by.")
    quantiles: str | None = option(
        "--quantiles", metavar="P,Q", help="Quantiles, such as 0.5,0.9 or 50%,90%."
    )
    confidence: str = share_option("--confidence", "95%", "Of what is stated.")
    seed: int = option("--seed", type=SEED, default=1, show_default=True, help="Of what is drawn.")
    unit: str | None = option(
        "--unit", metavar="UNIT", help="Unit of the values of a file; s unless given."
    )
    options: tuple[str, ...] = option(
        "--option",
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the method's own; may be repeated.",
    )
    variant: str | None = option(
        "--variant", metavar="NAME", help="The variant of an experiment with several."
    )
    metric: str | None = option(
        "--metric", metavar="NAME", help="The metric of an experiment instead of the first."
    )
    html: str | None = option(
        "--html", metavar="FILE", help="Write a page that needs nothing else."
    )
    plots: str | None = option(
        "--plots", metavar="DIRECTORY", help="Write the plots as PNG and SVG."
    )
    choices: str | None = option(
        "--choices", metavar="FILE", help="Choices of where executions look stable."
    )
    choose: bool = option(
        "--choose", is_flag=True, help="Choose them on a page that this command serves."
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("analyze", help=HELP, short_help="Any analysis on any table.")
@takes(AnalyzeOptions)
@click.argument("data")
def command(given: AnalyzeOptions, data: str) -> None:
    """Read, analyse, show."""
    found = _with_choices(_analyzed(data, given), given)
    show_answer(found, given.html, given.plots, given.json_target)


def _analyzed(data: str, given: AnalyzeOptions) -> Analyzed:
    from steelyard.app.results.named_analysis import analyze_experiment, analyze_file, chosen_method

    question = _question(given)
    method: Method = chosen_method(given.method, question)
    refuse_idle(f"to --method {method.name}", all_but(_idle_with(method)))
    of_experiments = {"--variant": given.variant, "--metric": given.metric}
    if _is_file(data):
        _refuse({**of_experiments, "--store": given.store}, "an experiment, not to a file")
        return analyze_file(data, method, question)
    _refuse({"--unit": given.unit}, "a file, not to an experiment")
    if method.reads == "trials":
        _refuse(of_experiments, "methods that read levels; see --response")
    with opened_library(given.store) as library:
        experiment = library.shown(data, hidden_values())
    return analyze_experiment(experiment, (given.variant, given.metric), method, question)


def _idle_with(method: Method) -> set[str]:
    """The options of questions that change nothing of a method's answer."""
    idle = {"seed", "quantiles"} - set(method.uses)
    return idle | {"response", "factors"} if method.reads == "levels" else idle


def _with_choices(found: Analyzed, given: AnalyzeOptions) -> Analyzed:
    """The answer with the choices that a file has, or that are made now."""
    path = given.choices
    if path is None and not given.choose:
        return found
    from steelyard.app.results.steady_choices import choices_file, choose, with_choices_of

    if not given.choose:
        assert path is not None
        return with_choices_of(found, path)
    from steelyard.web.choice_server import serve_choices

    chosen_path = path or choices_file(found, given.store)
    found = choose(found, chosen_path, _announce, serve_choices)
    write_note(f"the choices are in {chosen_path}; --choices takes them")
    return found


def _announce(address: str) -> None:
    write_note(f"choose at {address} (Done there, or Ctrl-C here, ends it)")


def _question(given: AnalyzeOptions) -> Question:
    from steelyard.app.results.typed_question import Question, method_options

    return Question(
        response=given.response,
        factors=_listed(given.factors, "--factors"),
        quantiles=tuple(
            parse_ratio(p, "--quantiles") for p in _listed(given.quantiles, "--quantiles")
        ),
        confidence=parse_ratio(given.confidence, "--confidence"),
        seed=given.seed,
        unit=given.unit or "s",
        extra=method_options(given.options),
    )


def _listed(text: str | None, flag: str) -> tuple[str, ...]:
    if text is None:
        return ()
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts) or len(set(parts)) != len(parts):
        raise UsageError(
            f"{flag} takes different names or numbers with commas between; it got {text!r}.",
            field=flag,
        )
    return parts


def _is_file(data: str) -> bool:
    """Whether DATA is meant as a file: it is there, or its name is none of an experiment."""
    return os.path.exists(data) or os.sep in data or "." in data


def _refuse(options: Mapping[str, str | None], where: str) -> None:
    for flag, value in options.items():
        if value is not None:
            raise UsageError(f"{flag} belongs to {where}.", field=flag)
