"""`steelyard profile agree`: whether profilers name the same hot functions."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

import click
from click.core import ParameterSource

from steelyard.cli.console.output import (
    refuse_nowhere,
    write_json,
    write_note,
    write_page,
    write_text,
)
from steelyard.cli.options.strict_options import RUNS
from steelyard.cli.profile.profile_options import (
    commands_from,
    commands_option,
    confidence_option,
    profilers_option,
    seed_option,
)
from steelyard.core.errors import DataError, UsageError

_OF_RUNS = {"profilers": "--profiler", "runs": "--runs"}
_OF_PROGRAM = {"commands": "--command", "name": "--name", "setting": "--setting"}


@click.command("agree")
@profilers_option
@commands_option
@click.option(
    "--profile",
    "files",
    metavar="NAME=FILE",
    multiple=True,
    help="Read a profile that NAME wrote, instead of running anything. Repeatable.",
)
@click.option(
    "--load",
    "documents",
    metavar="FILE",
    multiple=True,
    help="Take in the programs of a document that --json wrote. Repeatable.",
)
@click.option(
    "--runs",
    type=RUNS,
    default=10,
    show_default=True,
    help="Runs under each profiler.",
)
@click.option("--name", default="", help="What the program is called.")
@click.option("--setting", default="", help="What tells this build from others of the program.")
@seed_option
@confidence_option
@click.option("--html", "html_target", metavar="FILE", help="Write a page with the figures.")
@click.option(
    "--json", "json_target", metavar="FILE", help="Write JSON to FILE (- is standard output)."
)
@click.argument("argv", metavar="[-- CMD...]", nargs=-1, type=click.UNPROCESSED)
def agree(argv: tuple[str, ...], **options: Any) -> None:
    """Compare what profilers say of CMD: do they name the same hot functions?

    CMD is run several times under each profiler. Without --profiler all are taken that this
    machine has for the language of CMD.
    """
    from steelyard.analysis.profile_agreement import agreement
    from steelyard.app.profile.profiler_agreement import collect_profiles, refuse_twins
    from steelyard.report.agreement_text import agreement_text
    from steelyard.report.json.agreement import agreement_document

    refuse_nowhere(options["html_target"], options["json_target"])
    _refuse_ignored(argv, options)
    programs = [item for path in options["documents"] for item in _loaded(path)]
    if argv or options["files"]:
        programs.append(collect_profiles(_request(argv, options), write_note))
    if not programs:
        raise UsageError(
            "Name a program after --, profiles with --profile, or documents with --load.",
            field="command",
        )
    refuse_twins(programs)
    found = agreement(programs, options["confidence"], options["seed"])
    if options["html_target"] is not None:
        from steelyard.report.html.agreement_page import agreement_page

        write_page(agreement_page(found), options["html_target"])
    write_json(agreement_document(found), options["json_target"])
    if options["json_target"] != "-":
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        write_text(agreement_text(found, width))


def _refuse_ignored(argv: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse options of runs where nothing is run, and of a program where there is none."""
    if options["files"]:
        ignored, reader = _OF_RUNS, "--profile"
    elif options["documents"] and not argv:
        ignored, reader = {**_OF_RUNS, **_OF_PROGRAM}, "--load"
    else:
        return
    context = click.get_current_context()
    for name, option in ignored.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise UsageError(
                f"{option} has nothing to act on: {reader} reads what is there already.",
                field=option,
            )


def _request(argv: tuple[str, ...], options: dict[str, Any]) -> Any:
    from steelyard.app.profile.profiler_agreement import AgreementRequest

    files = tuple(_file_of(word) for word in options["files"])
    known = [name for name, _ in files] or options["profilers"] or _all_names()
    return AgreementRequest(
        argv=argv,
        profilers=options["profilers"],
        commands=commands_from(options["commands"], known),
        files=files,
        run_count=options["runs"],
        name=options["name"],
        setting=options["setting"],
        seed=options["seed"],
    )


def _all_names() -> list[str]:
    from steelyard.profile.profilers import PROFILERS

    return PROFILERS.names()


def _file_of(word: str) -> tuple[str, str]:
    name, separator, path = word.partition("=")
    if not (name and separator and path):
        raise UsageError(
            f"--profile wants NAME=FILE, such as perf=perf.data; it got {word!r}.",
            field="--profile",
        )
    return name, path


def _loaded(path: str) -> list[Any]:
    from steelyard.report.json.agreement import profiles_of

    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", field="--load") from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}.", field="--load") from None
    return profiles_of(document, path)
