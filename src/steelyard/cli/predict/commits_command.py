"""`steelyard predict commits`: which benchmarks a commit needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.output import terminal_width, write_json, write_page, write_text
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.option_ranges import SEED
from steelyard.cli.options.shared_options import json_option, share_option
from steelyard.cli.predict.commit_indicators_command import indicators_command
from steelyard.cli.predict.commit_options import (
    CommitModelName,
    ProgramsOptions,
    ReadPairsOptions,
    commands_of,
    hit_rate_of,
)
from steelyard.cli.predict.platform_options import html_option
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.predict.commit_questions import CommitAnswer

HELP = """
Predict which benchmarks a commit can change, and which need not run.

PAIRS is a CSV file, plain or by gzip: one row for each benchmark and pair of revisions, with the
columns benchmark, known, unknown, changed, and one for each indicator.

\b
steelyard predict commits indicators --old A --new B --use add=callgrind.out --append pairs.csv
steelyard predict commits learn pairs.csv --output predictor.json
steelyard predict commits ask predictor.json --old A --new B --use add=callgrind.out
"""
_RUN_NEEDED_STATUS = 1
# Designs that part rows at random, and those that learn from older revisions.
_IN_FOLDS = frozenset(("folds-by-benchmark", "folds", "learnt-size"))
_IN_ORDER = frozenset(("chronological", "distance"))


@click.group("commits", help=HELP, short_help="Which benchmarks a commit needs.")
def commits() -> None:
    """The questions about commits."""


commits.add_command(indicators_command)


def _hit_rate_option() -> str:
    return share_option("--hit-rate", "95%", "Share of changes to catch.")


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """What learn takes."""

    output: str = option(
        "--output", metavar="FILE", required=True, help="Write the predictor to FILE."
    )
    model: str = option(
        "--model", type=CommitModelName(), default="chosen", show_default=True, help="The model."
    )
    hit_rate: str = _hit_rate_option()
    read: ReadPairsOptions = group(ReadPairsOptions)
    json_target: str | None = json_option()


@commits.command("learn")
@takes(LearnOptions)
@click.argument("pairs", metavar="PAIRS")
def learn_command(given: LearnOptions, pairs: str) -> None:
    """Learn which differences between revisions come with changed times."""
    from steelyard.app.predict.commit_questions import CHOSEN
    from steelyard.app.predict.commits import learn
    from steelyard.report.kinds.commits.document import predictor_document
    from steelyard.report.kinds.commits.text import predictor_text

    named = None if given.model == CHOSEN else given.model
    found = learn(pairs, given.read.options(), hit_rate_of(given.hit_rate), named)
    document = predictor_document(found, named)
    write_json(document, given.output)
    write_json(document, given.json_target)
    if "-" not in (given.output, given.json_target):
        write_text(predictor_text(found, terminal_width()))


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """What is asked: pairs of a file, or two programs."""

    pairs: str | None = option("--pairs", metavar="FILE", help="Answer the pairs of this CSV file.")
    programs: ProgramsOptions = group(ProgramsOptions)
    hit_rate: str | None = option(
        "--hit-rate", metavar="SHARE", help="Share of changes to catch (default: as learnt)."
    )
    read: ReadPairsOptions = group(ReadPairsOptions)

    def answer(self, predictor: str) -> CommitAnswer:
        """What a kept predictor answers."""
        from steelyard.app.predict.commit_code import ask_code, compare_code
        from steelyard.app.predict.commits import ask_pairs, kept_predictor

        programs = self.programs.programs()
        if (self.pairs is None) == (programs is None):
            raise UsageError(
                "Name what is asked: --pairs FILE, or --old FILE --new FILE --use NAME=FILE.",
                field="--pairs",
            )
        if programs is None:
            self.programs.refuse_idle()
        elif self.read.indicators or self.read.drop:
            raise UsageError("--indicator and --drop are about --pairs.", field="--indicator")
        hit_rate = None if self.hit_rate is None else hit_rate_of(self.hit_rate)
        learnt = kept_predictor(predictor, hit_rate)
        if programs is not None:
            return ask_code(learnt, compare_code(programs, self.programs.names()))
        return ask_pairs(learnt, str(self.pairs), self.read.options())


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """What ask takes."""

    question: QuestionOptions = group(QuestionOptions)
    fail_if_run: bool = option(
        "--fail-if-run", is_flag=True, help="Exit with status 1 if a benchmark needs to run."
    )
    html: str | None = html_option()
    json_target: str | None = json_option()


@commits.command("ask")
@takes(AskOptions)
@click.argument("predictor", metavar="PREDICTOR")
def ask_command(given: AskOptions, predictor: str) -> int:
    """Say for each benchmark how probably a revision changes it, and whether to run it."""
    from steelyard.report.kinds.commits.document import answer_document
    from steelyard.report.kinds.commits.page import answer_page
    from steelyard.report.kinds.commits.text import answer_text

    found = given.question.answer(predictor)
    if given.html is not None:
        write_page(answer_page(found), given.html)
    write_json(answer_document(found), given.json_target)
    if given.json_target != "-":
        write_text(answer_text(found, terminal_width()))
    return _RUN_NEEDED_STATUS if given.fail_if_run and found.to_run else 0


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What plan takes."""

    question: QuestionOptions = group(QuestionOptions)
    budget: str | None = option(
        "--budget", metavar="TIME", help="Run no more than this, such as 10m."
    )
    weights: str | None = option(
        "--weights", metavar="FILE", help="Write JSON with the probability of each revision."
    )
    weights_of: str | None = option(
        "--weights-of", metavar="BENCHMARK", help="Of this benchmark (default: of any)."
    )
    commands: tuple[str, ...] = option(
        "--command",
        metavar="NAME=CMD",
        multiple=True,
        help="How a benchmark is run; {program} stands for the old and the new one. Repeatable.",
    )
    json_target: str | None = json_option()


@commits.command("plan")
@takes(PlanOptions)
@click.argument("predictor", metavar="PREDICTOR")
def plan_command(given: PlanOptions, predictor: str) -> None:
    """Choose which benchmarks to run within a budget, and which commits to run together."""
    from steelyard.app.predict.commits import plan, weights
    from steelyard.core.quantity import parse_duration
    from steelyard.report.kinds.commits.plan_document import plan_document
    from steelyard.report.kinds.commits.plan_text import plan_text

    budget = None if given.budget is None else parse_duration(given.budget, "--budget")
    calls = commands_of(given.commands)
    if given.weights_of is not None and given.weights is None:
        raise UsageError("--weights-of is about --weights FILE.", field="--weights-of")
    answer = given.question.answer(predictor)
    if given.weights is not None:
        write_json(weights(answer, given.weights_of), given.weights)
    found = plan(answer, budget)
    programs = given.question.programs
    pair = None if programs.old is None else (programs.old, str(programs.new))
    document = plan_document(found, calls, pair)
    write_json(document, given.json_target)
    if "-" not in (given.json_target, given.weights):
        write_text(plan_text(found, document, terminal_width()))


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """What evaluate takes."""

    designs: tuple[str, ...] = option(
        "--design",
        metavar="NAME",
        multiple=True,
        help="How to divide the pairs. Repeatable (default: all).",
    )
    models: tuple[str, ...] = option(
        "--model",
        type=CommitModelName(),
        multiple=True,
        help="A model. Repeatable (default: thresholds and chosen).",
    )
    folds: int = option(
        "--folds", type=click.IntRange(2, 100), default=10, show_default=True, help="Parts."
    )
    learnt: str = share_option(
        "--learnt", "25%", "Share of revisions, from the oldest, that chronological learns from."
    )
    hit_rate: str = _hit_rate_option()
    seed: int = option("--seed", type=SEED, default=1, show_default=True, help="Of the parts.")
    read: ReadPairsOptions = group(ReadPairsOptions)
    html: str | None = html_option()
    json_target: str | None = json_option()


def _refuse_idle(designs: Sequence[str]) -> None:
    """Refuse options of designs that are not asked for."""
    idle = () if _IN_FOLDS.intersection(designs) else ("folds", "seed")
    idle += () if _IN_ORDER.intersection(designs) else ("learnt",)
    refuse_idle(f"to --design {' --design '.join(designs)}", all_but(idle))


@commits.command("evaluate")
@takes(EvaluateOptions)
@click.argument("pairs", metavar="PAIRS")
def evaluate_command(given: EvaluateOptions, pairs: str) -> None:
    """Predict pairs whose answer is known from others, and count what is caught and saved."""
    from steelyard.app.predict.commit_questions import CHOSEN, DESIGNS, EvaluationDesign
    from steelyard.app.predict.commits import evaluate
    from steelyard.report.kinds.commits.document import evaluation_document
    from steelyard.report.kinds.commits.page import evaluation_page
    from steelyard.report.kinds.commits.text import evaluation_text

    for name in given.designs:
        if name not in DESIGNS:
            known = ", ".join(DESIGNS)
            raise UsageError(f"--design {name}: want one of {known}.", field="--design")
    designs = tuple(dict.fromkeys(given.designs)) or DESIGNS
    _refuse_idle(designs)
    design = EvaluationDesign(
        designs,
        tuple(dict.fromkeys(given.models)) or ("thresholds", CHOSEN),
        given.folds,
        parse_ratio(given.learnt, "--learnt"),
        hit_rate_of(given.hit_rate),
        given.seed,
    )
    found = evaluate(pairs, given.read.options(), design)
    if given.html is not None:
        write_page(evaluation_page(found), given.html)
    # It has all benchmarks of all scores, and takes longer than the answer where they are many.
    if given.json_target is not None:
        write_json(evaluation_document(found), given.json_target)
    if given.json_target != "-":
        write_text(evaluation_text(found, terminal_width()))
