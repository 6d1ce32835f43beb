"""`steelyard list`: the experiments of the store."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.options.option_groups import takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library, warn


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """What list takes."""

    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("list", short_help="List the experiments in the store.")
@takes(ListOptions)
def command(given: ListOptions) -> None:
    """List the experiments in the store, the one that was added last first.

    The first characters of an identifier are enough wherever an experiment is to be named;
    `latest` is the one that was added last: measured, or imported.
    """
    from steelyard.core.masked_experiment import masked_spec
    from steelyard.report.kinds.experiment.listing_document import experiments_document
    from steelyard.report.kinds.experiment.text import listing_text

    with opened_library(given.store) as library:
        told = library.cautions
        found, cautions, path = library.listing(), library.cautions, library.store.path
        warn(caution for caution in cautions if caution not in told)
    # Before the table cuts names: what is left of a secret would not look like one.
    found = tuple(replace(one, spec=masked_spec(one.spec)) for one in found)
    if given.json_target is not None:
        write_json(experiments_document(path, found, cautions), given.json_target)
    if given.json_target != "-":
        write_text(listing_text(found, terminal_width()))
