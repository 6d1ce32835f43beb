"""`steelyard delete EXPERIMENT...`: forget experiments."""

from __future__ import annotations

import sys

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.store.library_options import JSON, STORE, opened_library
from steelyard.core.errors import UsageError


@click.command("delete", short_help="Delete experiments from the store.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@STORE
@JSON
@click.argument("experiments", nargs=-1, required=True, metavar="EXPERIMENT...")
def command(
    experiments: tuple[str, ...], yes: bool, store: str | None, json_target: str | None
) -> None:
    """Delete experiments, with all their trials, from the store. There is no way back.

    All that are named are deleted, or none.
    """
    from steelyard.report.json.deletion import deletion_document

    with opened_library(store) as library:
        identifiers = tuple(dict.fromkeys(library.find(prefix) for prefix in experiments))
        if not yes:
            _confirm(identifiers)
        deleted = library.delete(identifiers)
        document = deletion_document(library.store.path, deleted, library.cautions)
    write_json(document, json_target)
    if json_target != "-":
        write_text("".join(f"deleted {identifier}\n" for identifier in deleted))


def _confirm(identifiers: tuple[str, ...]) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody can be asked whether to delete; --yes deletes without asking.", field="--yes"
        )
    named = ", ".join(identifiers)
    click.confirm(f"Delete {named}? There is no way back.", abort=True, err=True)
