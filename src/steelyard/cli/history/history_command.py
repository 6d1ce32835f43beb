"""`steelyard history`: changes along revisions."""

from __future__ import annotations

import click

from steelyard.cli.history.add_command import add
from steelyard.cli.history.list_command import list_tracks

HELP = """
Keep benchmarks along revisions, and report what changed, where and by how much.

\b
steelyard history add latest --revision HEAD
steelyard history check --run './bench' --build make --fail-if worse
steelyard history report -o history.html
steelyard history bisect --good v1 --bad HEAD --build make --run ./bench
"""


@click.group("history", help=HELP, short_help="Changes along revisions.")
def command() -> None:
    """The commands about tracks."""


for _command in (add, list_tracks):
    command.add_command(_command)
