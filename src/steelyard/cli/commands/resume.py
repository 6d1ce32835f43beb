"""`steelyard resume EXPERIMENT`: go on where an experiment stopped."""

from __future__ import annotations

from typing import Any

import click

from steelyard.app.weigh import weigh_further
from steelyard.cli.weighing_answer import show, watching
from steelyard.cli.weighing_options import ANSWER_OPTIONS, STOPPING_OPTIONS, options
from steelyard.cli.weighing_request import parse_gate, place_from, stopping_from


@click.command("resume", short_help="Go on with an experiment.")
@options(STOPPING_OPTIONS, ANSWER_OPTIONS)
@click.option("--wait", is_flag=True, help="Wait while another measurement holds the machine.")
@click.option(
    "--fail-if",
    "fail_if",
    metavar="slower[:SHARE]",
    help="Exit with 1 on this verdict, or when the whole interval lies beyond SHARE.",
)
@click.argument("experiment")
def command(experiment: str, fail_if: str | None, **values: Any) -> int:
    """Go on with an interrupted or under-powered experiment; EXPERIMENT is its identifier, the
    first characters of it, or `latest`.

    Without options it keeps to the rule to stop that it was started with; a budget counts anew.
    """
    gate = parse_gate(fail_if)
    given = [values[name] for name in ("precision", "budget", "runs", "min_runs")]
    stopping = stopping_from(*given) if any(item is not None for item in given) else None
    with watching(values["json_target"]) as watch:
        weighing = weigh_further(experiment, stopping, place_from(values), watch)
    return show(weighing, values["json_target"], gate)
