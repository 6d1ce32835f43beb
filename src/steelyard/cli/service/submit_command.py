"""`steelyard submit`: an experiment file, to a service that runs it on its workers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import click

from steelyard.cli.console.output import write_json, write_note, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.service.service_options import server_option, token_file_option, token_in
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, UsageError
from steelyard.core.identifier import new_identifier

HELP = """
Send the experiment file FILE.toml to a service, which runs it on its workers.

The service is the one that runs on this machine (steelyard serve), or the one at --server.

\b
steelyard submit compare.toml --dry-run
steelyard submit compare.toml --server https://bench.example --token-file token
steelyard submit packages.toml --base main --patch my-branch
"""


@dataclass(frozen=True, kw_only=True)
class SubmitOptions:
    """What submit takes."""

    server: str | None = server_option()
    token_file: str | None = token_file_option()
    visibility: str = option(
        "--visibility",
        type=click.Choice(("private", "shared", "public")),
        default="private",
        show_default=True,
        help="Who may see the experiment.",
    )
    priority: int | None = option(
        "--priority",
        type=click.IntRange(-100, 100),
        help="Experiments with a higher one are given out first; 0 unless given, 10 with --patch.",
    )
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Say what would run, and where; send no experiment."
    )
    debug: bool = option(
        "--debug",
        is_flag=True,
        help="Run each benchmark package once on each architecture first, and show what its "
        "scripts print; send nothing if one fails.",
    )
    follow_up: bool = option(
        "--follow-up",
        is_flag=True,
        help="When this screening has ended, run the full design of the factors that it proposes.",
    )
    base: str | None = option(
        "--base",
        metavar="REVISION",
        help="With --patch: the revision that it is compared with.",
    )
    patch: str | None = option(
        "--patch",
        metavar="REVISION",
        help="Compare two revisions of a repository by the file's packages, which find the tree "
        "in their folder `source`; an experiment for each package.",
    )
    repository: str = option(
        "--repository",
        metavar="DIR",
        default=".",
        help="The repository of --base and --patch; that of the current directory unless given.",
    )
    store: str | None = store_option("The store whose service is meant, without --server.")
    json_target: str | None = json_option()


@click.command("submit", help=HELP, short_help="Send an experiment to a service.")
@takes(SubmitOptions)
@click.argument("file", metavar="FILE.toml", type=click.Path(exists=True, dir_okay=False))
def command(given: SubmitOptions, file: str) -> None:
    """Read the file, send its text, and say what became of it."""
    from steelyard.app.experiment.experiment_file import experiment_file_of
    from steelyard.app.service.local_service import service_client
    from steelyard.app.service.on_demand import PRIORITY, Patch, patch_experiments
    from steelyard.app.service.send_packages import send_packages

    text = _text_of(file)
    read = experiment_file_of(text, file)
    client = service_client(given.server, token_in(given.token_file), given.store)
    if given.patch is None and given.base is None:
        packages = send_packages(client, read, write_note)
        _send(given, client, {**_body(given, 0), "file": text, "name": file, "packages": packages})
        return
    if given.patch is None or given.base is None:
        raise UsageError(
            "--base and --patch go together: a patch is compared with its base.",
            field="--patch" if given.patch is None else "--base",
        )
    if given.json_target is not None and len(read.benchmarks) > 1:
        raise UsageError(
            f"--json writes one document, and {file} has {len(read.benchmarks)} packages with an "
            "experiment each. Leave --json out, or send a file with one package.",
            field="--json",
        )
    asked = Patch(given.repository, given.base, given.patch)
    batch = new_identifier(time.time_ns() // 1_000_000)
    for each in patch_experiments(client, read, text, asked, write_note):
        told = {"file": each.text, "name": each.name, "packages": dict(each.packages)}
        _send(given, client, {**_body(given, PRIORITY), **told, "batch": batch})


def _body(given: SubmitOptions, priority: int) -> dict[str, Any]:
    """What is the same of every experiment that one call sends."""
    return {
        "visibility": given.visibility,
        "priority": priority if given.priority is None else given.priority,
        "dry_run": given.dry_run,
        "follow_up": given.follow_up,
    }


def _send(given: SubmitOptions, client: Any, body: dict[str, Any]) -> None:
    """Send one experiment, and say what became of it."""
    from steelyard.app.service.send_packages import rehearse
    from steelyard.report.kinds.submission.text import submission_lines

    if given.debug:
        rehearse(client, body, write_note)
    document = client.post("api/experiments", body)
    if given.json_target is not None:
        write_json(document, given.json_target)
    if given.json_target != "-":
        write_text("\n".join(submission_lines(document)) + "\n")
        if document["experiment"] is not None and given.server is None:
            write_note(f"{client.address}service/{document['experiment']} shows it")


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig", opener=regular_opener) as file:
            return file.read()
    except OSError as error:
        raise DataError(
            f"The experiment file {path} cannot be read: {error.strerror}.", field="FILE"
        ) from None
    except ValueError:
        raise DataError(
            f"The experiment file {path} cannot be read: it is no text.", field="FILE"
        ) from None
