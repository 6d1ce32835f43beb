"""`steelyard show EXPERIMENT`: what was run, where, and what failed."""

from __future__ import annotations

import click

from steelyard.cli.console.hidden import unless_asked
from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.store.library_options import JSON, SECRETS, STORE, opened_library, terminal_width


@click.command("show", short_help="Show one experiment.")
@click.option("--trials", is_flag=True, help="Also every trial, with its values.")
@SECRETS
@STORE
@JSON
@click.argument("experiment", default="latest")
def command(
    experiment: str, trials: bool, show_secrets: bool, store: str | None, json_target: str | None
) -> None:
    """Show what an EXPERIMENT ran, where, how often, and what failed; the latest unless named.

    `steelyard report` gives its answer.
    """
    from steelyard.report.json.experiment import experiment_document
    from steelyard.report.listing import experiment_text

    with opened_library(store) as library:
        found = library.shown(experiment, unless_asked(show_secrets))
        running, cautions = library.is_running(found.spec.identifier), library.cautions
    if json_target is not None:
        write_json(
            experiment_document(found, running=running, trials=trials, cautions=cautions),
            json_target,
        )
    if json_target != "-":
        write_text(experiment_text(found, running=running, trials=trials, width=terminal_width()))
