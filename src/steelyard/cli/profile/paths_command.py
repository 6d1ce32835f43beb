"""`steelyard profile paths`: call paths by where a program is and how high its stack is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.output import refuse_nowhere, terminal_width, write_json, write_text
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.compare_command import compare
from steelyard.cli.profile.judge_command import judge
from steelyard.cli.profile.map_command import map_command
from steelyard.cli.profile.resize_command import DEFAULT_MAP, resize
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.profile.crash_paths import LoggedCrash


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
    call_sites: bool = option(
        "--call-sites",
        is_flag=True,
        help="Paths differ by their call sites, too; the map is one with call sites.",
    )
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class CrashOptions:
    """The core file, and the program that it is of."""

    core: str | None = option("--core", metavar="FILE", help="The core file.")
    log: str | None = option(
        "--log", metavar="LINE", help="The kernel's line of the crash, instead of a core file."
    )
    pc: str | None = option(
        "--pc", metavar="ADDRESS", help="The instruction, instead of a core file."
    )
    sp: str | None = option("--sp", metavar="ADDRESS", help="The stack pointer then.")
    frame_pointer: str | None = option(
        "--frame-pointer", metavar="ADDRESS", help="The frame pointer then, if the frame needs it."
    )
    image: str | None = option(
        "--image",
        metavar="ADDRESS",
        help="With --pc: where the program was loaded; otherwise --pc is of its file.",
    )
    base: str | None = option(
        "--base",
        metavar="ADDRESS",
        help="Where the thread's stack begins; otherwise paths of every height are shown.",
    )
    program: str | None = option(
        "--program",
        metavar="FILE",
        help="The program's file; otherwise the one that the core file names.",
    )
    static: bool = option(
        "--static",
        is_flag=True,
        help="Search the program's code for paths that were never learnt; needs no MAP.",
    )
    json_target: str | None = json_option()


# What stands for a core file.
_LOGGED = frozenset({"log", "pc", "sp", "frame_pointer", "image", "base"})
_LAST_ADDRESS = 2**64 - 1


@click.group("paths", short_help="Call paths by the height of the stack.")
def paths() -> None:
    """Tell call paths by where a program is and how high its stack is."""


paths.add_command(compare)
paths.add_command(judge)
paths.add_command(map_command)
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
    learning = learn_paths(argv, given.output, given.program, given.call_sites)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.document import learning_document

        write_json(learning_document(learning), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.text import learning_text

        write_text(learning_text(learning, terminal_width()))
    return learning.exit_status


@paths.command("crash")
@takes(CrashOptions)
@click.argument("path", metavar="[MAP]", required=False)
def crash(given: CrashOptions, path: str | None) -> None:
    """Show by which paths a crashed program may have come to where it ended.

    With --static and no MAP nothing has to be learnt.
    """
    from steelyard.app.profile.crash_paths import crash_path, logged_crash_path

    if path is None and not given.static:
        path = DEFAULT_MAP
    if given.core is not None:
        refuse_idle("to --core", all_but(_LOGGED))
        found = crash_path(path, given.core, given.program, given.static)
    else:
        logged = _logged_crash(given)
        if given.program is None:
            raise UsageError(
                "Registers do not say of which program they are: give --program.", field="--program"
            )
        found = logged_crash_path(path, given.program, logged, given.static)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.document import crash_document

        write_json(crash_document(found), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.crash_text import crash_text

        write_text(crash_text(found))


def _logged_crash(given: CrashOptions) -> LoggedCrash:
    from steelyard.app.profile.crash_paths import LoggedCrash

    if given.log is not None:
        refuse_idle("to --log", all_but({"core", "pc", "sp", "image"}))
    elif given.pc is None or (given.sp is None and given.base is not None):
        raise UsageError(
            "What is known of the crash? Give --core, or --log, or --pc and --sp.", field="--core"
        )
    return LoggedCrash(
        given.log,
        _address(given.pc, "--pc") or 0,
        _address(given.sp, "--sp") or 0,
        _address(given.image, "--image") or 0,
        _address(given.frame_pointer, "--frame-pointer"),
        _address(given.base, "--base"),
    )


def _address(text: str | None, name: str) -> int | None:
    """An address as C writes it; as in logs, hexadecimal without a prefix too where it is no
    decimal number.
    """
    if text is None:
        return None
    for radix in (0, 16):
        try:
            address = int(text, radix)
        except ValueError:
            continue
        if 0 <= address <= _LAST_ADDRESS:
            return address
    raise UsageError(f"{name} is no address: {text!r}; write it as 0x7ffc12345678.", field=name)
