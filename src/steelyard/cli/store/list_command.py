"""`steelyard list`: the experiments of the store."""

from __future__ import annotations

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.store.library_options import JSON, STORE, opened_library, terminal_width, warn


@click.command("list", short_help="List the experiments in the store.")
@STORE
@JSON
def command(store: str | None, json_target: str | None) -> None:
    """List the experiments in the store, the one that was added last first.

    The first characters of an identifier are enough wherever an experiment is to be named;
    `latest` is the one that was added last: measured, or imported.
    """
    from steelyard.report.json.experiments import experiments_document
    from steelyard.report.listing import listing_text

    with opened_library(store) as library:
        told = library.cautions
        found, cautions, path = library.listing(), library.cautions, library.store.path
        warn(caution for caution in cautions if caution not in told)
    if json_target is not None:
        write_json(experiments_document(path, found, cautions), json_target)
    if json_target != "-":
        write_text(listing_text(found, terminal_width()))
