"""`steelyard import FILE`: another tool's measurements, or another store's."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_note, write_text
from steelyard.cli.options.gate_options import GateOptions
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.service.service_options import token_file_option, token_in
from steelyard.cli.store.opened_library import opened_library, warn
from steelyard.core.errors import UsageError

HELP = """
Read the measurements of FILE into the store, as an experiment, and print its identifier. FILE may
be the address of an experiment's page on a service, too.

`steelyard report` then says what they show. With --as, files or stored experiments are
compared instead, the first name being the baseline:

\b
steelyard import jmh-result.json
steelyard import --as base old.json --as head new.json
steelyard import --as base old-1.txt --as base old-2.txt --as head new-1.txt --as head new-2.txt
steelyard import --as monday 01JD --as today latest
steelyard import https://bench.example/service/01M85SC0VHQM52GC8EDA4C9YQW
"""


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What import takes."""

    sides: tuple[tuple[str, str], ...] = option(
        "--as",
        nargs=2,
        multiple=True,
        metavar="NAME FILE",
        help="Compare FILE, or a stored experiment, under NAME with the others, matched by "
        "benchmark. FILEs of one NAME count together.",
    )
    metric: str | None = option(
        "--metric", metavar="NAME", help="With --as: the metric to decide by, not the first."
    )
    margin: str | None = option(
        "--margin", metavar="SHARE", help="With --as: differences inside it are equivalent (1%)."
    )
    confidence: str | None = option(
        "--confidence", metavar="SHARE", help="With --as: confidence of the intervals (95%)."
    )
    format_name: str | None = option(
        "--format",
        metavar="NAME",
        help="The file's format, such as csv, hyperfine, parquet, steelyard-json or an adapter of "
        "docs/ADAPTERS.md; found by its content.",
    )
    token_file: str | None = token_file_option(
        "A file with the token for a service whose page is given in place of FILE; the variable "
        "STEELYARD_TOKEN holds it otherwise."
    )
    results: str | None = option(
        "--results",
        metavar="DIRECTORY",
        help="Of the address of an experiment: fetch its archives of results into it, too.",
    )
    gates: GateOptions = group(GateOptions)
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("import", help=HELP, short_help="Read another tool's measurements into the store.")
@takes(ImportOptions)
@click.argument("file", required=False)
def command(given: ImportOptions, file: str | None) -> int:
    """Import a file, or compare several."""
    if given.sides:
        return _compare(given, file)
    from steelyard.app.service.fetched_experiment import (
        fetch_results,
        fetched_experiment,
        is_address,
    )
    from steelyard.app.service.held_token import held_token

    if file is None:
        raise UsageError("import needs a FILE, or --as NAME FILE twice.", field="file")
    for name, value in (
        ("--metric", given.metric),
        ("--margin", given.margin),
        ("--confidence", given.confidence),
        *((gate.option, gate.text) for gate in given.gates.gates),
    ):
        if value is not None:
            raise UsageError(f"{name} goes with --as, which compares files.", field=name)
    if not is_address(file):
        for name, value in (("--token-file", given.token_file), ("--results", given.results)):
            if value is not None:
                raise UsageError(
                    f"{name} goes with the address of an experiment of a service.", field=name
                )
        return _import(given, file, given.format_name)
    _, token = held_token(file, token_in(given.token_file))
    with fetched_experiment(file, token) as (path, format_name):
        status = _import(given, path, format_name)
    if given.results is not None:
        count = fetch_results(file, token, given.results)
        write_note(f"{count} archives of results are in {given.results}")
    return status


def _import(given: ImportOptions, file: str, format_name: str | None) -> int:
    from steelyard.report.kinds.experiment.document import experiment_document

    with opened_library(given.store) as library:
        imported = library.import_file(file, format_name)
        warn(imported.cautions)
        document = experiment_document(
            imported.experiment, cautions=(*library.cautions, *imported.cautions)
        )
    write_json(document, given.json_target)
    if given.json_target != "-":
        write_text(f"{imported.experiment.spec.identifier}\n")
    return 0


def _compare(given: ImportOptions, file: str | None) -> int:
    from steelyard.app.results.before_and_after import weigh_sides
    from steelyard.app.results.matched_experiments import Judging
    from steelyard.cli.weigh.weighing_answer import show
    from steelyard.core.quantity import parse_ratio

    if file is not None:
        raise UsageError(f"--as names every file; {file} has no name.", field="file")
    judging = Judging(
        given.metric,
        parse_ratio(given.confidence or "95%", "--confidence"),
        parse_ratio(given.margin or "1%", "--margin"),
        gates=given.gates.gates,
    )
    with opened_library(given.store) as library:
        weighing = weigh_sides(library, given.sides, given.format_name, judging)
    return show(weighing, given.json_target)
