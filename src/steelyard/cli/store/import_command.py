"""`steelyard import FILE`: another tool's measurements, or another store's."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library, warn


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What import takes."""

    format_name: str | None = option(
        "--format",
        metavar="NAME",
        help="The file's format, such as csv, hyperfine, parquet, steelyard-json or an adapter of "
        "docs/ADAPTERS.md; found by its content.",
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("import", short_help="Read another tool's measurements into the store.")
@takes(ImportOptions)
@click.argument("file")
def command(given: ImportOptions, file: str) -> None:
    """Read the measurements of FILE into the store, as an experiment, and print its identifier.

    `steelyard report` then tells what they say.
    """
    from steelyard.report.kinds.experiment.document import experiment_document

    with opened_library(given.store) as library:
        imported = library.import_file(file, given.format_name)
        warn(imported.cautions)
        document = experiment_document(
            imported.experiment, cautions=(*library.cautions, *imported.cautions)
        )
    write_json(document, given.json_target)
    if given.json_target != "-":
        write_text(f"{imported.experiment.spec.identifier}\n")
