"""`steelyard resume EXPERIMENT`: go on where an experiment stopped."""

from __future__ import annotations

from typing import Any

import click

from steelyard.app.experiment.going_on import Onward
from steelyard.app.experiment.weigh import weigh_further
from steelyard.cli.options.strict_options import MOST_RUNS
from steelyard.cli.weigh.weighing_answer import show, watching
from steelyard.cli.weigh.weighing_options import ANSWER_OPTIONS, options
from steelyard.cli.weigh.weighing_request import DEFAULT_BUDGET, parse_gate, place_from
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_budget, parse_ratio


@click.command("resume", short_help="Go on with an experiment.")
@click.option("--precision", metavar="SHARE", help="Go on until each half-width is within this.")
@click.option(
    "--budget",
    metavar="TIME|RUNS",
    help=f"Stop this session at this time or number of trials (default {DEFAULT_BUDGET}).",
)
@click.option("--runs", metavar="N|+N", help="Runs of each command in all, or +N further ones.")
@click.option(
    "--min-runs", type=click.IntRange(2, MOST_RUNS), help="Runs in all before the first look."
)
@options(ANSWER_OPTIONS)
@click.option("--wait", is_flag=True, help="Wait while another measurement holds the machine.")
@click.option(
    "--fail-if",
    "fail_if",
    metavar="slower[:SHARE]",
    help="Exit with 1 on this verdict, or when the whole interval lies beyond SHARE.",
)
@click.argument("experiment")
def command(experiment: str, fail_if: str | None, **values: Any) -> int:
    """Go on with an interrupted or undecided experiment; EXPERIMENT is its identifier, the
    first characters of it, or `latest`.

    Without options an interrupted experiment keeps to the rule to stop that it was started with,
    and a finished one goes on until every verdict is decided. A budget counts anew.
    """
    gate = parse_gate(fail_if)
    asked = _asked(values)
    with watching(values["json_target"]) as watch:
        weighing = weigh_further(experiment, asked, place_from(values), watch)
    return show(weighing, values["json_target"], gate)


def _asked(values: dict[str, Any]) -> Onward:
    runs, further = _runs(values["runs"])
    if runs is not None and (values["precision"] or values["min_runs"]):
        raise UsageError(
            "--runs fixes the number of runs; it does not go with --precision or --min-runs.",
            field="--runs",
        )
    budget = values["budget"] or (None if runs is not None else DEFAULT_BUDGET)
    budget_s, budget_runs = (None, None) if budget is None else parse_budget(budget, "--budget")
    precision = values["precision"]
    return Onward(
        precision_ratio=None if precision is None else parse_ratio(precision, "--precision"),
        budget_s=budget_s,
        budget_runs=budget_runs,
        runs=runs,
        further=further,
        minimum_blocks=values["min_runs"],
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
