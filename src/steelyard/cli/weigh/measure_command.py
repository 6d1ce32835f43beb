"""`steelyard measure -- CMD`: one program."""

from __future__ import annotations

import click

from steelyard.app.experiment.weigh import weigh
from steelyard.app.request.command_text import words_of_one
from steelyard.app.request.request import Request
from steelyard.cli.options.option_groups import takes
from steelyard.cli.weigh.weighing_answer import show, watching
from steelyard.cli.weigh.weighing_options import WeighingOptions
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
@takes(WeighingOptions)
@click.argument("words", metavar="[--] CMD [ARG]...", nargs=-1, required=True)
def command(given: WeighingOptions, words: tuple[str, ...]) -> int:
    """Run a new experiment and show its answer."""
    answer = given.answer
    with watching(answer.json_target) as watch:
        place = place_from(answer.store, given.machine.wait)
        weighing = weigh(measurement_request(given, words), place, watch)
    return show(weighing, answer.json_target, asked=given.program.metrics)


def measurement_request(given: WeighingOptions, words: tuple[str, ...]) -> Request:
    """What the options and the program's words ask for."""
    argv = (" ".join(words),) if given.program.shell else _words(words)
    return request_from((argv,), given)


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the program, also where they came in one pair of quotes."""
    return words_of_one(words[0], "command") if len(words) == 1 else words
