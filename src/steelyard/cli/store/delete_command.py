"""`steelyard delete EXPERIMENT...`: forget experiments."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """What delete takes."""

    yes: bool = option("--yes", is_flag=True, help="Do not ask.")
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("delete", short_help="Delete experiments from the store.")
@takes(DeleteOptions)
@click.argument("experiments", nargs=-1, required=True, metavar="EXPERIMENT...")
def command(given: DeleteOptions, experiments: tuple[str, ...]) -> None:
    """Delete experiments, with all their trials, from the store. There is no way back.

    All that are named are deleted, or none.
    """
    from steelyard.report.kinds.experiment.deletion_document import deletion_document

    with opened_library(given.store) as library:
        identifiers = tuple(dict.fromkeys(library.find(prefix) for prefix in experiments))
        if not given.yes:
            _confirm(identifiers)
        deleted = library.delete(identifiers)
        document = deletion_document(library.store.path, deleted, library.cautions)
    write_json(document, given.json_target)
    if given.json_target != "-":
        write_text("".join(f"deleted {identifier}\n" for identifier in deleted))


def _confirm(identifiers: tuple[str, ...]) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody can be asked whether to delete; --yes deletes without asking.", field="--yes"
        )
    named = ", ".join(identifiers)
    click.confirm(f"Delete {named}? There is no way back.", abort=True, err=True)
