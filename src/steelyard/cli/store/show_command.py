"""`steelyard show EXPERIMENT`: what was run, where, and what failed."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.masked_values import unless_asked
from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, secrets_option, store_option
from steelyard.cli.store.opened_library import opened_library


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """What show takes."""

    trials: bool = option("--trials", is_flag=True, help="Also every trial, with its values.")
    show_secrets: bool = secrets_option()
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("show", short_help="Show one experiment.")
@takes(ShowOptions)
@click.argument("experiment", default="latest")
def command(given: ShowOptions, experiment: str) -> None:
    """Show what an EXPERIMENT ran, where, how often, and what failed; the latest unless named.

    `steelyard report` gives its answer.
    """
    from steelyard.report.kinds.experiment.document import experiment_document
    from steelyard.report.kinds.experiment.text import experiment_text

    with opened_library(given.store) as library:
        found = library.shown(experiment, unless_asked(given.show_secrets))
        running, cautions = library.is_running(found.spec.identifier), library.cautions
    if given.json_target is not None:
        write_json(
            experiment_document(found, running=running, trials=given.trials, cautions=cautions),
            given.json_target,
        )
    if given.json_target != "-":
        write_text(
            experiment_text(found, running=running, trials=given.trials, width=terminal_width())
        )
