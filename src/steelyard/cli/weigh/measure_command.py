"""`steelyard measure -- CMD`: one program."""

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
from steelyard.cli.weigh.weighing_request import place_from, request_from

HELP = """
Weigh one program: run it until the mean of its first metric is known to the precision
asked for, and say what varies, what depends on what, and what it cost.

\b
steelyard measure -- gzip -k -c data.txt
steelyard measure --runs 30 --metric max_rss -- ./server --once
"""


@click.command(
    "measure",
    help=HELP,
    short_help="Weigh one program.",
    context_settings={"ignore_unknown_options": False},
)
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
@click.argument("words", metavar="[--] CMD [ARG]...", nargs=-1, required=True)
def command(words: tuple[str, ...], **values: Any) -> int:
    """Run a new experiment and show its answer."""
    argv = (" ".join(words),) if values["shell"] else words
    request = request_from((argv,), values)
    with watching(values["json_target"]) as watch:
        weighing = weigh(request, place_from(values), watch)
    return show(weighing, values["json_target"], asked=values["metrics"])
