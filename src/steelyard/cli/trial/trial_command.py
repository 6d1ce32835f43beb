"""`steelyard trial run PART`: a part of a plan from a file, as executors run it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from steelyard.app.experiment.sent_part import run_sent_part
from steelyard.cli.console.output import write_json, write_note
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import wait_option
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.report.kinds.plan_part.document import part_result_document

INTERRUPTED_STATUS = 130


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """What run takes."""

    result: str = option(
        "--result",
        "--json",
        metavar="FILE",
        default="-",
        show_default="standard output",
        help="Write the result to FILE, which appears whole or not at all.",
    )
    archives: str | None = option(
        "--archives",
        metavar="DIRECTORY",
        help="Move archives of results of packages into it, each named by its trial's position.",
    )
    wait: bool = wait_option()


@click.group("trial", short_help="Run trials of a plan from a file, as executors do.")
def command() -> None:
    """Run trials of a plan from a file, as executors do."""


def _content(part: str) -> bytes:
    if part == "-":
        return sys.stdin.buffer.read()
    try:
        with open(part, "rb", opener=regular_opener) as file:
            return file.read()
    except OSError as error:
        raise DataError(f"{part} cannot be read: {error.strerror}.", field="part") from None


@command.command("run")
@takes(TrialOptions)
@click.argument("part", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
def run(given: TrialOptions, part: str) -> int:
    """Run the trials of the part of a plan in the JSON file PART; - reads standard input.

    A trial that fails is a result like any other: its status says so, and the exit status of
    this command is 0.
    """
    data = _content(part)
    result = run_sent_part(data, part, given.wait, write_note, given.archives)
    write_json(part_result_document(result), given.result)
    return INTERRUPTED_STATUS if result.interrupted else 0
