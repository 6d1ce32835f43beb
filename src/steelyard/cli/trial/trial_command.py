"""`steelyard trial run SPEC`: one trial from a file, as executors run it."""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from steelyard.app.experiment.single_trial import run_trial
from steelyard.cli.console.output import write_json
from steelyard.cli.options.option_groups import option, takes
from steelyard.core.errors import DataError


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


@click.group("trial", short_help="Run single trials from a file, as executors do.")
def command() -> None:
    """Run single trials from a file, as executors do."""


@command.command("run")
@takes(TrialOptions)
@click.argument("spec", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
def run(given: TrialOptions, spec: str) -> int:
    """Run the trial that the JSON file SPEC describes; - reads standard input.

    A trial that fails is a result like any other: its status says so, and the exit status of
    this command is 0.
    """
    with click.open_file(spec, "rb") as file:
        data = file.read()
    try:
        document = json.loads(data)
    except ValueError as error:
        raise DataError(f"The trial's specification {spec} is no JSON: {error}.") from None
    write_json(run_trial(document), given.result)
    return 0
