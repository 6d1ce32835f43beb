"""`steelyard history add SOURCE...`: values of experiments and files into the history."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library, warn

HELP = """
Add values of experiments and files to the history.

SOURCE is an experiment of the store (`latest`, or the beginning of its identifier), a file, or a
directory of files. Adding a source again changes nothing.

\b
steelyard history add latest --revision HEAD
steelyard history add .asv/results/lab1
steelyard history add results.json --range v1..v2 --host lab1
"""


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """What add takes."""

    revision: str | None = option(
        "--revision", metavar="REV", help="The revision that was measured, such as HEAD."
    )
    range: str | None = option(
        "--range",
        metavar="GOOD..BAD",
        help="The values stand for this batch of commits, up to BAD.",
    )
    repository: str | None = option(
        "--repository",
        metavar="DIR",
        help="The repository that orders revisions (default: the one of the working directory, "
        "if git knows all revisions there).",
    )
    branch: str | None = option(
        "--branch", metavar="NAME", help="The branch (default: the one that is checked out)."
    )
    host: str | None = option(
        "--host", metavar="NAME", help="The host (default: what the source says)."
    )
    benchmark: str | None = option(
        "--benchmark", metavar="NAME", help="The benchmark, in place of the source's name of it."
    )
    metrics: tuple[str, ...] = option(
        "--metric",
        metavar="NAME",
        multiple=True,
        help="Take this metric alone; `all` takes every one of an experiment (default: the first). "
        "Repeatable.",
    )
    format_name: str | None = option(
        "--format", metavar="NAME", help="The files' format (default: found by their content)."
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("add", help=HELP, short_help="Add values of experiments and files.")
@takes(AddOptions)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
def add(given: AddOptions, sources: tuple[str, ...]) -> None:
    """Read, resolve revisions, keep."""
    from steelyard.app.history.add_values import add_values
    from steelyard.app.history.experiment_rows import ALL_METRICS
    from steelyard.app.history.revision_place import AddRequest
    from steelyard.core.errors import UsageError
    from steelyard.report.kinds.tracks.document import addition_document
    from steelyard.report.kinds.tracks.text import addition_text

    if given.revision is not None and given.range is not None:
        raise UsageError(
            "--range names the last revision itself, so --revision does not go with it.",
            field="--revision",
        )
    if ALL_METRICS in given.metrics and len(given.metrics) > 1:
        raise UsageError(
            "--metric all takes every metric, so no other goes with it.", field="--metric"
        )
    asked = AddRequest(
        sources=sources,
        revision=given.revision,
        range=given.range,
        repository=given.repository,
        branch=given.branch,
        host=given.host,
        benchmark=given.benchmark,
        metrics=given.metrics,
        format_name=given.format_name,
    )
    with opened_library(given.store) as library:
        added = add_values(asked, library)
    warn(added.cautions)
    write_json(addition_document(added), given.json_target)
    if given.json_target != "-":
        write_text(addition_text(added))
