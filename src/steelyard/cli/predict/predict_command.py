"""`steelyard predict`: what nobody has measured."""

from __future__ import annotations

import click

from steelyard.cli.predict.commits_command import commits
from steelyard.cli.predict.platforms_command import platforms


@click.group("predict", short_help="What nobody has measured: other hosts, new commits.")
def command() -> None:
    """Predict what nobody has measured."""


command.add_command(commits)
command.add_command(platforms)
