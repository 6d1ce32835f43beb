"""`steelyard resume EXPERIMENT`: go on where an experiment stopped."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.app.experiment.going_on import Onward
from steelyard.app.experiment.weigh import weigh_further
from steelyard.cli.options.gate_options import GateOptions
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.option_ranges import MOST_RUNS
from steelyard.cli.options.shared_options import wait_option
from steelyard.cli.weigh.weighing_answer import show, watching
from steelyard.cli.weigh.weighing_options import AnswerOptions
from steelyard.cli.weigh.weighing_request import place_from
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_budget, parse_ratio

DEFAULT_BUDGET = "10min"


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """When to stop this time, and where the answer goes."""

    precision: str | None = option(
        "--precision", metavar="SHARE", help="Go on until each half-width is within this."
    )
    budget: str | None = option(
        "--budget",
        metavar="TIME|RUNS",
        help=f"Stop this session at this time or number of trials (default {DEFAULT_BUDGET}).",
    )
    runs: str | None = option(
        "--runs", metavar="N|+N", help="Runs of each command in all, or +N further ones."
    )
    min_runs: int | None = option(
        "--min-runs", type=click.IntRange(2, MOST_RUNS), help="Runs in all before the first look."
    )
    answer: AnswerOptions = group(AnswerOptions)
    wait: bool = wait_option()
    gates: GateOptions = group(GateOptions)


@click.command("resume", short_help="Go on with an experiment.")
@takes(ResumeOptions)
@click.argument("experiment")
def command(given: ResumeOptions, experiment: str) -> int:
    """Go on with an interrupted or undecided experiment; EXPERIMENT is its identifier, the
    first characters of it, or `latest`.

    Without options an interrupted experiment keeps to the rule to stop that it was started with,
    and a finished one goes on until every verdict is decided. A budget counts anew.
    """
    gates, asked, answer = given.gates.gates, onward_from(given), given.answer
    with watching(answer.json_target) as watch:
        place = place_from(answer.store, given.wait)
        weighing = weigh_further(experiment, asked, place, watch, gates)
    if weighing.experiment.spec.profiles is not None:
        from steelyard.cli.profile.study_text import Targets, show_study

        show_study(weighing.experiment, Targets(answer.json_target))
        return 0
    return show(weighing, answer.json_target)


def onward_from(given: ResumeOptions) -> Onward:
    """What further runs the options ask for."""
    runs, further = _runs(given.runs)
    if runs is not None and (given.precision or given.min_runs):
        raise UsageError(
            "--runs fixes the number of runs; it does not go with --precision or --min-runs.",
            field="--runs",
        )
    budget = given.budget or (None if runs is not None else DEFAULT_BUDGET)
    budget_s, budget_runs = (None, None) if budget is None else parse_budget(budget, "--budget")
    return Onward(
        precision_ratio=None
        if given.precision is None
        else parse_ratio(given.precision, "--precision"),
        budget_s=budget_s,
        budget_runs=budget_runs,
        runs=runs,
        further=further,
        minimum_blocks=given.min_runs,
        budget_is_asked=given.budget is not None,
    )


def _runs(text: str | None) -> tuple[int | None, bool]:
    """A number of runs, and whether it counts from those that are there."""
    if text is None:
        return None, False
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits)):
        raise UsageError(
            f"--runs takes a number of runs such as 30, or +30 for further ones; it got {text!r}.",
            field="--runs",
        )
    return int(digits), text.startswith("+")
