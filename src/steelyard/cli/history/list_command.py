"""`steelyard history list`: the tracks of the history."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.history.track_options import ChoiceOptions
from steelyard.cli.options.option_groups import group, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """What list takes."""

    choice: ChoiceOptions = group(ChoiceOptions)
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("list", short_help="List the tracks.")
@takes(ListOptions)
def list_tracks(given: ListOptions) -> None:
    """List the tracks of the history: benchmark, metric, host and branch."""
    from steelyard.app.history.stored_tracks import stored_tracks
    from steelyard.report.kinds.tracks.document import tracks_document
    from steelyard.report.kinds.tracks.text import tracks_text

    with opened_library(given.store) as library:
        found = stored_tracks(library, given.choice.chosen())
    write_json(tracks_document(found), given.json_target)
    if given.json_target != "-":
        write_text(tracks_text(found, terminal_width()))
