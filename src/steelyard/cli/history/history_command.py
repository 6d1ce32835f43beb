"""`steelyard history`: changes along revisions."""

from __future__ import annotations

import click

from steelyard.cli.history.add_command import add
from steelyard.cli.history.answer_commands import acknowledge, snooze
from steelyard.cli.history.bisect_command import bisect
from steelyard.cli.history.check_command import check
from steelyard.cli.history.list_command import list_tracks
from steelyard.cli.history.report_command import report

HELP = """
Keep benchmarks along revisions, and report what changed, where and by how much.

\b
steelyard history add latest --revision HEAD
steelyard history check --run './bench' --build make --fail-if worse
steelyard history report -o history.html
"""


@click.group("history", help=HELP, short_help="Changes along revisions.")
def command() -> None:
    """The commands about tracks."""


for _command in (add, check, report, bisect, acknowledge, snooze, list_tracks):
    command.add_command(_command)
