"""`steelyard profile paths`: call paths by where a program is and how high its stack is."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import refuse_nowhere, terminal_width, write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.judge_command import judge
from steelyard.cli.profile.resize_command import DEFAULT_MAP, resize


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """What is watched, and where its paths go."""

    output: str = option(
        "--output",
        "-o",
        metavar="FILE",
        default=DEFAULT_MAP,
        show_default=True,
        help="The map; what it has already stays.",
    )
    program: str | None = option(
        "--program",
        metavar="FILE",
        help="Watch this program, which CMD starts; otherwise the one that CMD names.",
    )
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class CrashOptions:
    """The core file, and the program that it is of."""

    core: str = option("--core", metavar="FILE", required=True, help="The core file.")
    program: str | None = option(
        "--program",
        metavar="FILE",
        help="The program's file; otherwise the one that the core file names.",
    )
    json_target: str | None = json_option()


@click.group("paths", short_help="Call paths by the height of the stack.")
def paths() -> None:
    """Tell call paths by where a program is and how high its stack is."""


paths.add_command(judge)
paths.add_command(resize)


@paths.command("learn")
@takes(LearnOptions)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def learn(given: LearnOptions, argv: tuple[str, ...]) -> int:
    """Run CMD and add every call path that its program takes to a map.

    The exit status is that of CMD.
    """
    from steelyard.app.profile.path_maps import learn_paths

    refuse_nowhere(given.output, given.json_target)
    learning = learn_paths(argv, given.output, given.program)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.document import learning_document

        write_json(learning_document(learning), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.text import learning_text

        write_text(learning_text(learning, terminal_width()))
    return learning.exit_status


@paths.command("crash")
@takes(CrashOptions)
@click.argument("path", metavar="[MAP]", default=DEFAULT_MAP)
def crash(given: CrashOptions, path: str) -> None:
    """Show by which paths a crashed program may have come to where it ended."""
    from steelyard.app.profile.path_maps import crash_path

    found = crash_path(path, given.core, given.program)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.document import crash_document

        write_json(crash_document(found), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.text import crash_text

        write_text(crash_text(found))
