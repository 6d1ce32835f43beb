"""`steelyard analyze`: any analysis on any table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from steelyard.cli.analyze.analysis_answer import show_answer
from steelyard.cli.console.hidden import hidden_values
from steelyard.cli.console.output import write_note
from steelyard.cli.options.strict_options import SEED, all_but, refuse_idle
from steelyard.cli.store.library_options import JSON, STORE, opened_library
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio
from steelyard.store.location import store_path

if TYPE_CHECKING:
    from steelyard.analysis.method import Method, Question
    from steelyard.app.results.named_analysis import Analyzed

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
        from steelyard.analysis.methods import ANALYSES

        return f"[{'|'.join(ANALYSES.names())}]"


@click.command("analyze", help=HELP, short_help="Any analysis on any table.")
@click.option("--method", required=True, type=MethodList(), help="The analysis.")
@click.option("--response", metavar="COLUMN", help="The column to explain.")
@click.option("--factors", metavar="A,B,C", help="The columns to explain it by.")
@click.option("--quantiles", metavar="P,Q", help="Quantiles, such as 0.5,0.9 or 50%,90%.")
@click.option(
    "--confidence", default="95%", show_default=True, metavar="SHARE", help="Of what is stated."
)
@click.option(
    "--seed",
    type=SEED,
    default=1,
    show_default=True,
    help="Of what is drawn.",
)
@click.option("--unit", metavar="UNIT", help="Unit of the values of a file; s unless given.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the method's own; may be repeated.",
)
@click.option("--variant", metavar="NAME", help="The variant of an experiment with several.")
@click.option("--metric", metavar="NAME", help="The metric of an experiment instead of the first.")
@click.option("--html", metavar="FILE", help="Write a page that needs nothing else.")
@click.option("--plots", metavar="DIRECTORY", help="Write the plots as PNG and SVG.")
@click.option("--choices", metavar="FILE", help="Choices of where executions look stable.")
@click.option("--choose", is_flag=True, help="Choose them on a page that this command serves.")
@STORE
@JSON
@click.argument("data")
def command(data: str, json_target: str | None, html: str | None, **given: object) -> None:
    """Read, analyse, show."""
    found = _with_choices(_analyzed(data, given), given)
    show_answer(found, html, _text(given, "plots"), json_target)


def _analyzed(data: str, given: dict[str, object]) -> Analyzed:
    from steelyard.app.results.named_analysis import analyze_experiment, analyze_file, chosen_method

    question = _question(given)
    method: Method = chosen_method(str(given["method"]), question)
    names = (_text(given, "variant"), _text(given, "metric"))
    refuse_idle(f"to --method {method.name}", all_but(_idle_with(method)))
    if _is_file(data):
        _refuse(given, ("variant", "metric", "store"), "an experiment, not to a file")
        return analyze_file(data, method, question)
    _refuse(given, ("unit",), "a file, not to an experiment")
    if method.reads == "trials":
        _refuse(given, ("variant", "metric"), "methods that read levels; see --response")
    with opened_library(_text(given, "store")) as library:
        experiment = library.shown(data, hidden_values())
    return analyze_experiment(experiment, names, method, question)


def _idle_with(method: Method) -> set[str]:
    """The options of questions that change nothing of a method's answer."""
    idle = {"seed", "quantiles"} - set(method.uses)
    return idle | {"response", "factors"} if method.reads == "levels" else idle


def _with_choices(found: Analyzed, given: dict[str, object]) -> Analyzed:
    """The answer with the choices that a file has, or that are made now."""
    path = _text(given, "choices")
    if path is None and not given["choose"]:
        return found
    from steelyard.app.results.steady_choices import choices_file, choose, with_choices_of

    if not given["choose"]:
        assert path is not None
        return with_choices_of(found, path)
    from steelyard.web.choice_server import serve_choices

    chosen_path = path or choices_file(found, store_path(_text(given, "store")))
    found = choose(found, chosen_path, _announce, serve_choices)
    write_note(f"the choices are in {chosen_path}; --choices takes them")
    return found


def _announce(address: str) -> None:
    write_note(f"choose at {address} (Done there, or Ctrl-C here, ends it)")


def _question(given: dict[str, object]) -> Question:
    from steelyard.analysis.method import Question

    options = given["options"]
    assert isinstance(options, tuple)
    return Question(
        response=_text(given, "response"),
        factors=_listed(given, "factors"),
        quantiles=tuple(parse_ratio(p, "--quantiles") for p in _listed(given, "quantiles")),
        confidence=parse_ratio(str(given["confidence"]), "--confidence"),
        seed=int(str(given["seed"])),
        unit=_text(given, "unit") or "s",
        extra=dict(_pair(str(option)) for option in options),
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--option takes NAME=VALUE; it got {text!r}.", field="--option")
    return name, value


def _text(given: dict[str, object], name: str) -> str | None:
    value = given[name]
    return None if value is None else str(value)


def _listed(given: dict[str, object], name: str) -> tuple[str, ...]:
    text = _text(given, name)
    if text is None:
        return ()
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts) or len(set(parts)) != len(parts):
        raise UsageError(
            f"--{name} takes different names or numbers with commas between; it got {text!r}.",
            field=f"--{name}",
        )
    return parts


def _is_file(data: str) -> bool:
    """Whether DATA is meant as a file: it is there, or its name is none of an experiment."""
    return os.path.exists(data) or os.sep in data or "." in data


def _refuse(given: dict[str, object], options: tuple[str, ...], where: str) -> None:
    for option in options:
        if given[option] is not None:
            raise UsageError(f"--{option} belongs to {where}.", field=f"--{option}")
