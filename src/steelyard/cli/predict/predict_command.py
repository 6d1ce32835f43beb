"""`steelyard predict`: what nobody has measured."""

from __future__ import annotations

import click

from steelyard.cli.predict.platforms_command import platforms


@click.group("predict", short_help="A time on a host that you do not have.")
def command() -> None:
    """Predict what nobody has measured."""


command.add_command(platforms)
