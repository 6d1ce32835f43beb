"""`steelyard compare 'A' 'B' ...`: programs against the first of them."""

from __future__ import annotations

from typing import Any

import click

from steelyard.app.experiment.weigh import weigh
from steelyard.cli.weigh.weighing_answer import show, watching
from steelyard.cli.weigh.weighing_options import (
    ANSWER_OPTIONS,
    DESIGN_OPTIONS,
    DIMENSIONED_OPTION,
    HOST_OPTIONS,
    ITERATION_OPTIONS,
    LEVEL_OPTIONS,
    PROGRAM_OPTIONS,
    STOPPING_OPTIONS,
    options,
)
from steelyard.cli.weigh.weighing_request import (
    parse_gate,
    place_from,
    request_from,
    split_commands,
)
from steelyard.core.errors import UsageError

HELP = """
Weigh programs against the first one: is each faster, by how much, and how sure is that?

Each CMD is one argument, split into words as a shell would but run without one.

\b
steelyard compare 'gzip -6 -c data.txt' 'gzip -1 -c data.txt'
steelyard compare --fail-if slower:2% './old' './new'
steelyard compare --parameter level=1,6,9 'gzip -{level} -c data.txt'
"""


@click.command("compare", help=HELP, short_help="Weigh programs against the first.")
@options(
    PROGRAM_OPTIONS,
    ITERATION_OPTIONS,
    LEVEL_OPTIONS,
    DIMENSIONED_OPTION,
    STOPPING_OPTIONS,
    DESIGN_OPTIONS,
    HOST_OPTIONS,
    ANSWER_OPTIONS,
)
@click.option(
    "--fail-if",
    "fail_if",
    metavar="slower[:SHARE]",
    help="Exit with 1 on this verdict, or when the whole interval lies beyond SHARE.",
)
@click.argument("commands", metavar="CMD CMD...", nargs=-1, required=True)
def command(commands: tuple[str, ...], fail_if: str | None, **values: Any) -> int:
    """Run a new experiment and show its answer."""
    gate = parse_gate(fail_if)
    request = request_from(split_commands(commands, values["shell"]), values, until="decided")
    alone = len(request.layouts) < 2 and request.build.variant_count < 2
    if len(commands) == 1 and not values["parameters"] and alone:
        raise UsageError(
            "compare needs two commands or more, or one with --parameter, or with several --build "
            "or --layout; `steelyard measure` weighs a single one.",
            field="command",
        )
    with watching(values["json_target"]) as watch:
        weighing = weigh(request, place_from(values), watch)
    return show(weighing, values["json_target"], gate, values["metrics"])
