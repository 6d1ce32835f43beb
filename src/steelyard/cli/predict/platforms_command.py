"""`steelyard predict platforms`: a time on a host that you do not have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from steelyard.cli.console.output import terminal_width, write_json, write_page, write_text
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.option_ranges import SEED
from steelyard.cli.options.shared_options import (
    json_option,
    share_option,
)
from steelyard.cli.predict.platform_options import (
    FitOptions,
    LimitOptions,
    PredictionOptions,
    ReadOptions,
    application_option,
    asked,
    html_option,
    model_option,
    models_option,
    names_of,
)
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

HELP = """
Predict a program's time on hosts where it was not measured.

FILE is a CSV file, plain or by gzip: one row a measurement with the columns host, benchmark and
value, or one row a host with a column for each benchmark. It may also be a store of experiments,
with those of other hosts that were imported.

\b
steelyard predict platforms ask times.csv --application my-program
steelyard predict platforms evaluate times.csv
"""
_FILE = click.argument("file", metavar="FILE")


def _seed_option() -> int:
    return option("--seed", type=SEED, default=1, show_default=True, help="Of what is drawn.")


@click.group("platforms", help=HELP, short_help="A time on a host that you do not have.")
def platforms() -> None:
    """The questions about platforms."""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """What ask takes."""

    application: str = application_option()
    model: str = model_option()
    known: str | None = option(
        "--known", metavar="A,B,C", help="Use what was measured on these hosts alone."
    )
    prediction: PredictionOptions = group(PredictionOptions)
    html: str | None = html_option()
    json_target: str | None = json_option()


@platforms.command("ask")
@takes(AskOptions)
@_FILE
def ask_command(given: AskOptions, file: str) -> None:
    """Predict a benchmark on every host, as if it had not been measured there."""
    from steelyard.app.predict.platforms import ask
    from steelyard.report.kinds.platforms.document import answer_document
    from steelyard.report.kinds.platforms.page import answer_page
    from steelyard.report.kinds.platforms.text import answer_text

    question = asked(given.application, given.prediction.fit, given.prediction.limits)
    known = names_of(given.known, "--known")
    found = ask(given.prediction.read.file(file, given.model), question, known)
    _write_page(given.html, lambda: answer_page(found, given.prediction.unit))
    document = answer_document(found, given.prediction.unit)
    _show(document, answer_text(found, terminal_width()), given.json_target)


@dataclass(frozen=True, kw_only=True)
class FitCommandOptions:
    """What fit takes."""

    application: str = application_option()
    models: tuple[str, ...] = models_option()
    fit: FitOptions = group(FitOptions)
    read: ReadOptions = group(ReadOptions)
    json_target: str | None = json_option()


@platforms.command("fit")
@takes(FitCommandOptions)
@_FILE
def fit_command(given: FitCommandOptions, file: str) -> None:
    """Fit models to all hosts where a benchmark is measured, and compare them."""
    from steelyard.app.predict.platforms import fit
    from steelyard.report.kinds.platforms.document import fits_document
    from steelyard.report.kinds.platforms.text import fits_text

    found = fit(given.read.file(file), asked(given.application, given.fit), given.models)
    _show(fits_document(found), fits_text(found, terminal_width()), given.json_target)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """What evaluate takes."""

    models: tuple[str, ...] = models_option()
    known_hosts: str | None = option(
        "--known-hosts",
        metavar="N,M",
        help="How many hosts are known; several counts between commas (default: all but one).",
    )
    subsets: int = option(
        "--subsets",
        type=click.IntRange(1, 100000),
        default=20,
        show_default=True,
        help="Sets of known hosts for each count, drawn where there are more.",
    )
    applications: tuple[str, ...] = option(
        "--application",
        metavar="BENCHMARK",
        multiple=True,
        help="Predict this benchmark. Repeatable (default: all).",
    )
    fit: FitOptions = group(FitOptions)
    limits: LimitOptions = group(LimitOptions)
    read: ReadOptions = group(ReadOptions)
    seed: int = _seed_option()
    html: str | None = html_option()
    json_target: str | None = json_option()


@platforms.command("evaluate")
@takes(EvaluateOptions)
@_FILE
def evaluate_command(given: EvaluateOptions, file: str) -> None:
    """Predict the table's own benchmarks, and compare models by their errors."""
    from steelyard.app.predict.platform_questions import EvaluationDesign
    from steelyard.app.predict.platforms import evaluate
    from steelyard.report.kinds.platforms.document import evaluation_document
    from steelyard.report.kinds.platforms.page import evaluation_page
    from steelyard.report.kinds.platforms.text import evaluation_text

    design = EvaluationDesign(
        _counts(given.known_hosts),
        given.subsets,
        given.seed,
        given.limits.share,
        given.limits.limits(),
        given.fit.predictors,
        names_of(given.fit.representatives, "--representatives"),
        tuple(dict.fromkeys(given.applications)),
    )
    found = evaluate(given.read.file(file), given.models, design)
    _write_page(given.html, lambda: evaluation_page(found))
    _show(evaluation_document(found), evaluation_text(found, terminal_width()), given.json_target)


@dataclass(frozen=True, kw_only=True)
class ChooseOptions:
    """What choose takes."""

    application: str = application_option()
    candidates: str | None = option(
        "--candidates", metavar="A,B,C", help="Choose among these hosts (default: all)."
    )
    by_price: str | None = option(
        "--by-price", metavar="COLUMN", help="Weigh times by this column of prices."
    )
    prediction: PredictionOptions = group(PredictionOptions)
    seed: int = _seed_option()
    json_target: str | None = json_option()


@platforms.command("choose")
@takes(ChooseOptions)
@_FILE
def choose_command(given: ChooseOptions, file: str) -> None:
    """Choose the host where a benchmark is fastest, or best for its price."""
    from steelyard.app.predict.platforms import choose
    from steelyard.report.kinds.platforms.document import choice_document
    from steelyard.report.kinds.platforms.text import choice_text

    question = asked(given.application, given.prediction.fit, given.prediction.limits)
    candidates = names_of(given.candidates, "--candidates")
    found = choose(
        given.prediction.read.file(file), question, candidates, given.by_price, given.seed
    )
    document = choice_document(found, given.prediction.unit)
    _show(document, choice_text(found, terminal_width()), given.json_target)


@dataclass(frozen=True, kw_only=True)
class NextOptions:
    """What next takes."""

    application: str = application_option()
    read: ReadOptions = group(ReadOptions)
    json_target: str | None = json_option()


@platforms.command("next")
@takes(NextOptions)
@_FILE
def next_command(given: NextOptions, file: str) -> None:
    """Rank the hosts and benchmarks to measure next, most useful first."""
    from steelyard.app.predict.platforms import suggest_next
    from steelyard.report.kinds.platforms.document import next_document
    from steelyard.report.kinds.platforms.text import next_text

    found = suggest_next(given.read.file(file), given.application)
    _show(next_document(found), next_text(found, terminal_width()), given.json_target)


@dataclass(frozen=True, kw_only=True)
class SuiteOptions:
    """What suite takes."""

    model: str = model_option()
    clusters: int = option(
        "--clusters",
        type=click.IntRange(1, 1000),
        default=5,
        show_default=True,
        help="In how many the tree of correlations is cut.",
    )
    tolerance: str = share_option(
        "--tolerance", "5%", "Call a benchmark redundant that the others predict so well."
    )
    limit: str = share_option(
        "--limit", "20%", "Call a benchmark unrepresented that the others miss by more."
    )
    read: ReadOptions = group(ReadOptions)
    html: str | None = html_option()
    json_target: str | None = json_option()


@platforms.command("suite")
@takes(SuiteOptions)
@_FILE
def suite_command(given: SuiteOptions, file: str) -> None:
    """Say which benchmarks say the same as others, and which nothing else represents."""
    from steelyard.app.predict.platforms import study
    from steelyard.report.kinds.platforms.document import suite_document
    from steelyard.report.kinds.platforms.page import suite_page
    from steelyard.report.kinds.platforms.text import suite_text

    tolerance = parse_ratio(given.tolerance, "--tolerance")
    limit = parse_ratio(given.limit, "--limit")
    found = study(given.read.file(file, given.model), given.clusters, tolerance, limit)
    _write_page(given.html, lambda: suite_page(found))
    _show(suite_document(found), suite_text(found, terminal_width()), given.json_target)


def _counts(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(","))) if text else ()
    except ValueError:
        raise UsageError(
            f"--known-hosts {text}: want whole numbers between commas, such as 3,7.",
            field="--known-hosts",
        ) from None


def _show(document: dict[str, Any], text: str, json_target: str | None) -> None:
    write_json(document, json_target)
    if json_target != "-":
        write_text(text)


def _write_page(path: str | None, page: Callable[[], str]) -> None:
    if path is not None:
        write_page(page(), path)
