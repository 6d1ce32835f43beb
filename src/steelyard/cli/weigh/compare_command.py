"""`steelyard compare 'A' 'B' ...`: programs against the first of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from steelyard.app.experiment.weigh import weigh
from steelyard.app.request.request import Request
from steelyard.cli.options.gate_options import GateOptions
from steelyard.cli.options.option_groups import group, takes
from steelyard.cli.weigh.weighing_answer import show, watching
from steelyard.cli.weigh.weighing_options import WeighingOptions
from steelyard.cli.weigh.weighing_request import (
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


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What compare takes."""

    weighing: WeighingOptions = group(WeighingOptions)
    gates: GateOptions = group(GateOptions)


@click.command("compare", help=HELP, short_help="Weigh programs against the first.")
@takes(CompareOptions)
@click.argument("commands", metavar="CMD CMD...", nargs=-1, required=True)
def command(given: CompareOptions, commands: tuple[str, ...]) -> int:
    """Run a new experiment and show its answer."""
    answer = given.weighing.answer
    with watching(answer.json_target) as watch:
        place = place_from(answer.store, given.weighing.machine.wait)
        weighing = weigh(comparison_request(given, commands), place, watch)
    return show(weighing, answer.json_target, given.weighing.program.metrics)


def comparison_request(given: CompareOptions, commands: tuple[str, ...]) -> Request:
    """What the options and commands ask for."""
    asked = given.weighing
    program = asked.program
    request = request_from(split_commands(commands, program.shell), asked, until="decided")
    alone = len(request.layouts) < 2 and request.build.variant_count < 2
    if len(commands) == 1 and not program.parameters and alone:
        raise UsageError(
            "compare needs two commands or more, or one with --parameter, or with several --build "
            "or --layout; `steelyard measure` weighs a single one.",
            field="command",
        )
    return replace(request, gates=given.gates.gates)
