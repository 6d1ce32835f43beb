"""`steelyard export EXPERIMENT`: in Steelyard's or another tool's format."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass

import click

from steelyard.cli.console.masked_values import unless_asked
from steelyard.cli.console.output import write_json
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, secrets_option, store_option
from steelyard.cli.store.opened_library import opened_library, warn
from steelyard.core.errors import UsageError

STANDARD_OUTPUT = "-"


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What export takes."""

    format_name: str | None = option(
        "--format",
        metavar="NAME",
        help="asv, bencher, benchfmt, csv, github-action-benchmark, google-benchmark, hyperfine, "
        "hyperfine-2, parquet, pyperf or steelyard-json; else by the end of the file's name.",
    )
    output: str = option(
        "-o", "--output", required=True, metavar="FILE", help="The file to write; - prints."
    )
    variant: str | None = option(
        "--variant",
        metavar="NAME",
        help="Write this variant alone, under the name of its benchmark, for tools that compare "
        "file with file.",
    )
    show_secrets: bool = secrets_option()
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("export", short_help="Write an experiment in another tool's format.")
@takes(ExportOptions)
@click.argument("experiment", default="latest")
def command(given: ExportOptions, experiment: str) -> None:
    """Write an EXPERIMENT, the latest unless named, to a file.

    steelyard-json loses nothing but secrets; of the others a warning tells what they have no place
    for.
    """
    from steelyard.report.kinds.experiment.export_document import export_document

    output = given.output
    if output == STANDARD_OUTPUT and given.json_target == STANDARD_OUTPUT:
        raise UsageError("Only one of -o and --json can be standard output.", field="--json")
    chosen = given.format_name or _format_of(output)
    with opened_library(given.store) as library, tempfile.TemporaryDirectory() as directory:
        prints = output == STANDARD_OUTPUT
        path = os.path.join(directory, "export") if prints else output
        shown = unless_asked(given.show_secrets)
        exported = library.export_file(experiment, chosen, path, shown, given.variant)
        if prints:
            sys.stdout.flush()
            with open(path, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.flush()
    warn(exported.cautions)
    identifier = exported.experiment.spec.identifier
    document = export_document(identifier, exported.format, output, exported.cautions)
    write_json(document, given.json_target)


def _format_of(output: str) -> str:
    from steelyard.app.results.library import format_of_file_name

    return format_of_file_name(output)
