"""`steelyard profile paths compare`: two profiles by their keys."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.options.option_groups import takes
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.profile_options import confidence_option


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """How two profiles are compared."""

    confidence: float = confidence_option("With which all intervals of differences hold together.")
    json_target: str | None = json_option()


@click.command("compare")
@takes(CompareOptions)
@click.argument("first", metavar="FIRST")
@click.argument("second", metavar="SECOND")
def compare(given: CompareOptions, first: str, second: str) -> None:
    """Compare two profiles of one build by their keys: functions at heights of the stack.

    No map is needed, and no path is named.
    """
    from steelyard.app.profile.compared_keys import compare_keys

    found = compare_keys(first, second, given.confidence)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.keys_document import keys_document

        write_json(keys_document(found), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.keys_text import keys_text

        write_text(keys_text(found, terminal_width()))
