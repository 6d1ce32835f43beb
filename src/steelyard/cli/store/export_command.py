"""`steelyard export EXPERIMENT`: in Steelyard's or another tool's format."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

import click

from steelyard.cli.console.hidden import unless_asked
from steelyard.cli.console.output import write_json
from steelyard.cli.store.library_options import JSON, SECRETS, STORE, opened_library, warn
from steelyard.core.errors import UsageError

STANDARD_OUTPUT = "-"


@click.command("export", short_help="Write an experiment in another tool's format.")
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    help="asv, bencher, benchfmt, csv, github-action-benchmark, google-benchmark, hyperfine, "
    "hyperfine-2, parquet or steelyard-json; else by the end of the file's name.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write; - prints.")
@SECRETS
@STORE
@JSON
@click.argument("experiment", default="latest")
def command(
    experiment: str,
    format_name: str | None,
    output: str,
    show_secrets: bool,
    store: str | None,
    json_target: str | None,
) -> None:
    """Write an EXPERIMENT, the latest unless named, to a file.

    steelyard-json loses nothing but secrets; of the others a warning tells what they have no place
    for.
    """
    from steelyard.report.json.export import export_document

    if output == STANDARD_OUTPUT and json_target == STANDARD_OUTPUT:
        raise UsageError("Only one of -o and --json can be standard output.", field="--json")
    chosen = format_name or _format_of(output)
    with opened_library(store) as library, tempfile.TemporaryDirectory() as directory:
        prints = output == STANDARD_OUTPUT
        path = os.path.join(directory, "export") if prints else output
        exported = library.export_file(experiment, chosen, path, unless_asked(show_secrets))
        if prints:
            sys.stdout.flush()
            with open(path, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.flush()
    warn(exported.cautions)
    identifier = exported.experiment.spec.identifier
    document = export_document(identifier, exported.format, output, exported.cautions)
    write_json(document, json_target)


def _format_of(output: str) -> str:
    from steelyard.app.results.library import format_of_file_name

    return format_of_file_name(output)
