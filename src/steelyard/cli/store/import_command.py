"""`steelyard import FILE`: another tool's measurements, or another store's."""

from __future__ import annotations

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.store.library_options import JSON, STORE, opened_library, warn


@click.command("import", short_help="Read another tool's measurements into the store.")
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    help="The file's format, such as csv, hyperfine, parquet, steelyard-json or an adapter of "
    "docs/ADAPTERS.md; found by its content.",
)
@STORE
@JSON
@click.argument("file")
def command(file: str, format_name: str | None, store: str | None, json_target: str | None) -> None:
    """Read the measurements of FILE into the store, as an experiment, and print its identifier.

    `steelyard report` then tells what they say.
    """
    from steelyard.report.json.experiment import experiment_document

    with opened_library(store) as library:
        imported = library.import_file(file, format_name)
        warn(imported.cautions)
        document = experiment_document(
            imported.experiment, cautions=(*library.cautions, *imported.cautions)
        )
    write_json(document, json_target)
    if json_target != "-":
        write_text(f"{imported.experiment.spec.identifier}\n")
