"""`steelyard profile agree`: whether profilers name the same hot functions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from steelyard.cli.console.output import refuse_nowhere
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.option_ranges import RUNS
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.profile_options import (
    StudyOptions,
    commands_from,
    commands_option,
    confidence_option,
    profilers_option,
    seed_option,
)
from steelyard.cli.profile.study_text import Targets, show_agreement
from steelyard.cli.weigh.weighing_answer import watching
from steelyard.core.decoding import decoding, regular_opener
from steelyard.core.errors import DataError, UsageError

_OF_RUNS = {
    "profilers": "--profiler",
    "runs": "--runs",
    "quiet": "--quiet",
    "wait": "--wait",
    "store": "--store",
}
_OF_PROGRAM = {"commands": "--command", "name": "--name", "setting": "--setting"}


@dataclass(frozen=True, kw_only=True)
class AgreeOptions:
    """Which profilers, or which profiles, and how they are compared."""

    profilers: tuple[str, ...] = profilers_option()
    commands: tuple[str, ...] = commands_option()
    files: tuple[str, ...] = option(
        "--profile",
        metavar="NAME=FILE",
        multiple=True,
        help="Read a profile that NAME wrote, instead of running anything. Repeatable.",
    )
    documents: tuple[str, ...] = option(
        "--load",
        metavar="FILE",
        multiple=True,
        help="Take in the programs of a document that --json wrote. Repeatable.",
    )
    runs: int | None = option(
        "--runs",
        type=RUNS,
        help="Runs under each profiler; otherwise 10, or those that a minute allows, at least 3.",
    )
    name: str = option("--name", default="", help="What the program is called.")
    setting: str = option(
        "--setting", default="", help="What tells this build from others of the program."
    )
    seed: int = seed_option()
    confidence: float = confidence_option()
    study: StudyOptions = group(StudyOptions)
    html_target: str | None = option(
        "--html", metavar="FILE", help="Write a page with the figures."
    )
    json_target: str | None = json_option("Write JSON to FILE (- is standard output).")


@click.command("agree")
@takes(AgreeOptions)
@click.argument("argv", metavar="[-- CMD...]", nargs=-1, type=click.UNPROCESSED)
def agree(given: AgreeOptions, argv: tuple[str, ...]) -> None:
    """Compare what profilers say of CMD: do they name the same hot functions?

    CMD is run several times under each profiler. Without --profiler all are taken that this
    machine has for the language of CMD.
    """
    from steelyard.app.profile.profiler_agreement import collect_profiles, judge_profiles

    refuse_nowhere(given.html_target, given.json_target)
    _refuse_ignored(argv, given)
    programs = [item for path in given.documents for item in loaded_profiles(path)]
    if argv or given.files:
        with watching(given.json_target) as watch:
            programs.append(collect_profiles(_request(argv, given), given.study.place(), watch))
    if not programs:
        raise UsageError(
            "Name a program after --, profiles with --profile, or documents with --load.",
            field="command",
        )
    found = judge_profiles(programs, given.confidence, given.seed)
    show_agreement(found, Targets(given.json_target, given.html_target))


def _refuse_ignored(argv: tuple[str, ...], given: AgreeOptions) -> None:
    """Refuse options of runs where nothing is run, and of a program where there is none."""
    if given.files:
        ignored, reader = _OF_RUNS, "--profile"
    elif given.documents and not argv:
        ignored, reader = {**_OF_RUNS, **_OF_PROGRAM}, "--load"
    else:
        return
    context = click.get_current_context()
    for name, flag in ignored.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise UsageError(
                f"{flag} has nothing to act on: {reader} reads what is there already.",
                field=flag,
            )


def _request(argv: tuple[str, ...], given: AgreeOptions) -> Any:
    from steelyard.app.profile.profiler_agreement import AgreementRequest

    files = tuple(_file_of(word) for word in given.files)
    known = [name for name, _ in files] or given.profilers or _all_names()
    return AgreementRequest(
        argv=argv,
        profilers=given.profilers,
        commands=commands_from(given.commands, known),
        files=files,
        run_count=given.runs,
        name=given.name,
        setting=given.setting,
        seed=given.seed,
        quiet=given.study.knobs,
    )


def _all_names() -> list[str]:
    from steelyard.app.profile.profiler_agreement import profiler_names

    return profiler_names()


def _file_of(word: str) -> tuple[str, str]:
    name, separator, path = word.partition("=")
    if not (name and separator and path):
        raise UsageError(
            f"--profile wants NAME=FILE, such as perf=perf.data; it got {word!r}.",
            field="--profile",
        )
    return name, path


def loaded_profiles(path: str) -> list[Any]:
    """The programs of a document of `profile agree --json`.

    Raises
    ------
    DataError
        The file is none.
    """
    from steelyard.report.kinds.agreement.document import profiles_of

    try:
        with open(path, "rb", opener=regular_opener) as file:
            data = file.read()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", field="--load") from None
    with decoding(f"{path} is not JSON", "--load"):
        document = json.loads(data)
    return profiles_of(document, path)
