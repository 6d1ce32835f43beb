"""`steelyard history report`: the page of tracks and changes, or their table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.output import (
    refuse_nowhere,
    shown_text,
    terminal_width,
    write_data,
    write_json,
    write_note,
    write_page,
)
from steelyard.cli.history.detection_options import DetectionOptions
from steelyard.cli.history.track_options import ChoiceOptions
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library, warn
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.history.history_check import FoundChanges

HELP = """
Report the tracks of the history and their changes.

\b
steelyard history report -o history.html
steelyard history report --format markdown --benchmark 'sort*'
steelyard history report --import results.csv -o results.html
"""
PAGE = "steelyard-history.html"
_SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".txt": "text"}


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What report takes."""

    choice: ChoiceOptions = group(ChoiceOptions)
    detection: DetectionOptions = group(DetectionOptions)
    output: str | None = option(
        "-o",
        "--output",
        metavar="FILE",
        help=f"Where to write; `-` is standard output. A page goes to {PAGE} by default, "
        "everything else to standard output.",
    )
    format_name: str | None = option(
        "--format",
        type=click.Choice(["html", "markdown", "text"]),
        help="By default what the suffix of FILE says, else html.",
    )
    imported: tuple[str, ...] = option(
        "--import",
        metavar="FILE",
        multiple=True,
        help="Report on the tracks of this file alone, without the store. Repeatable.",
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("report", help=HELP, short_help="A page of tracks and changes, or their table.")
@takes(ReportOptions)
def report(given: ReportOptions) -> None:
    """Find changes, write."""
    chosen = given.format_name or _SUFFIXES.get(os.path.splitext(given.output or "")[1], "html")
    if given.imported and given.store is not None:
        raise UsageError("--store does not go with --import.", field="--store")
    refuse_nowhere(given.output, given.json_target)
    found = _found(given, keep_points=chosen == "html")
    warn(found.cautions)
    if given.json_target is not None:
        from steelyard.report.kinds.changes.document import changes_document

        write_json(changes_document(found), given.json_target)
    if given.json_target is None or given.output is not None or given.format_name is not None:
        _write(chosen, found, given.output)


def _found(given: ReportOptions, *, keep_points: bool) -> FoundChanges:
    from steelyard.app.history.history_check import changes_of_files, changes_of_library

    asked = given.detection.question(given.choice, keep_points=keep_points)
    if given.imported:
        return changes_of_files(given.imported, None, asked)
    with opened_library(given.store) as library:
        return changes_of_library(asked, library)


def _write(chosen: str, found: FoundChanges, output: str | None) -> None:
    if chosen == "html":
        from steelyard.report.kinds.changes.page import changes_page

        write_page(changes_page(found), output or PAGE)
        if output != "-":
            write_note(f"wrote {output or PAGE}")
        return
    from steelyard.report.kinds.changes.text import changes_markdown, changes_text

    if chosen == "markdown":
        text = changes_markdown(found)
    else:
        text = changes_text(found, terminal_width() if output is None else None)
    write_data(shown_text(text).encode("utf-8", "replace"), output or "-")
