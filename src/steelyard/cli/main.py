"""The entry of the program: find the command, run it, turn errors into one message.

Commands are imported when they are called, so that each pays only for what it uses.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Iterable
from typing import NoReturn

import click

from steelyard.cli.console.output import write_error, write_json, write_note, write_text
from steelyard.cli.layout.compiler_drivers import LANGUAGES
from steelyard.cli.options.once_option import make_strict
from steelyard.cli.options.project_defaults import Call, completed_call
from steelyard.core.errors import DataError, SteelyardError, UsageError
from steelyard.core.interruption import interrupt
from steelyard.core.optional_parts import missing_part
from steelyard.core.plugins import failed_plugins, failure_of_plugin
from steelyard.core.registry import nearest
from steelyard.core.version import __version__

COMMANDS = {
    "measure": "Weigh one program: an estimate for each metric.",
    "compare": "Weigh programs against the first: verdict and ratio with its interval.",
    "dimension": "How often to repeat builds, executions and iterations, and why.",
    "experiment": "Factors, designs and analyses, from an experiment file.",
    "analyze": "Any analysis on any table: steady states of iterations, effects of factors.",
    "resume": "Go on with an interrupted or under-powered experiment.",
    "history": "Changes along revisions: keep, check, report, bisect.",
    "predict": "A time on a host that you do not have; the benchmarks that a commit needs.",
    "report": "Make an offline HTML page, plots or text from an experiment.",
    "serve": "Show the store in a browser, and run experiments that are sent.",
    "submit": "Send an experiment to a service.",
    "worker": "Run trials for a service on this host.",
    "profile": "Where a program spends its time, by samples at random times.",
    "host": "What makes this machine noisy, making it quiet, and undoing that.",
    "suite": "Real programs to measure with: fetch, build, run and describe them.",
    "package": "Benchmark packages for the service: make, check and run them.",
    "list": "List the experiments in the store.",
    "show": "Show one experiment: what was run, where, and what failed.",
    "delete": "Delete experiments from the store.",
    "import": "Read another tool's measurements into the store.",
    "export": "Write an experiment in another tool's format.",
    "cc": "Compile and link C so that the program's layout moves while it runs.",
    "c++": "The same for C++.",
    "fc": "The same for Fortran.",
    "layout": "What of a program's layout moves; moving it without building.",
    "trial": "Run trials of a plan from a file, as executors do.",
}
# The folder of each command's group, and the file in it.
_MODULES = {
    **{name: f"weigh.{name}_command" for name in ("measure", "compare", "resume")},
    **{name: f"store.{name}_command" for name in ("list", "show", "delete", "import", "export")},
    **{name: f"service.{name}_command" for name in ("submit", "worker")},
    **{"cc": "layout.cc_command", "c++": "layout.cxx_command", "fc": "layout.fc_command"},
}
INTERRUPTED_STATUS = 130
# A call that is shown in a message, in characters.
_SHOWN_CALL = 120
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# What else a machine refuses, whatever of Steelyard asked for it, and what one can do.
_REFUSED = {
    errno.EACCES: "Run this as the user whose it is, or name another place.",
    errno.EROFS: "Mount that file system for writing, or name another place.",
    errno.EMFILE: "Allow this process more open files: ulimit -n, or LimitNOFILE of its unit.",
    errno.ENFILE: "Allow this machine more open files: sysctl fs.file-max.",
    errno.EIO: "See what the kernel says of that disk: dmesg.",
}


class CommandTable(click.Group):
    """The commands by name, each in a module of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self.loaded(cmd_name) if cmd_name in COMMANDS else None

    @staticmethod
    def loaded(name: str) -> click.Command:
        """One of `COMMANDS`."""
        module = _MODULES.get(name, f"{name}.{name}_command")
        command = make_strict(importlib.import_module(f"steelyard.cli.{module}").command)
        if "_STEELYARD_COMPLETE" in os.environ:
            from steelyard.cli.options.completed_values import offer_values

            return offer_values(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UsageError(
                f"There is no command {args[0]!r}.{nearest(args[0], COMMANDS)} "
                f"Known: {', '.join(COMMANDS)}.",
                field="command",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=CommandTable,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="steelyard")
def program() -> None:
    """Weigh programs honestly: is a version faster, by how much, and how sure is that?"""


def _json_target(arguments: list[str]) -> str | None:
    """Where the caller wants JSON, read from the raw arguments: a wrong call has no parsed ones."""
    for index, argument in enumerate(arguments):
        if argument == "--":
            return None
        if argument == "--json" and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith("--json="):
            return argument.partition("=")[2]
    return None


def _fail(error: SteelyardError, arguments: list[str]) -> int:
    from steelyard.report.kinds.error.document import error_document

    write_error(error)
    try:
        write_json(error_document(error), _json_target(arguments))
    except SteelyardError as second:
        # Standard output that was full for the answer is full for this too.
        # A file that cannot be written was told of, if that is what went wrong.
        if second.message != error.message and error.field != "--json":
            write_error(second)
    except BrokenPipeError:
        _leave_output()
    return error.exit_status


def _leave_output() -> None:
    """Nobody reads it any more: what is still to be flushed at the end goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _from_click(error: click.ClickException, arguments: list[str]) -> UsageError:
    parameter = getattr(error, "param", None)
    field = parameter.opts[0] if parameter is not None and parameter.opts else None
    context = getattr(error, "ctx", None)
    hint = f" See {context.command_path} --help." if context is not None else ""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        hint = f"{_separated(context, arguments)}{hint}"
    return UsageError(f"{message}.{hint}", field=field)


def _separated(context: click.Context | None, arguments: list[str]) -> str:
    """How to call a command that takes a program, where an option may be the program's."""
    if context is None or "--" in arguments:
        return ""
    known = {parameter.metavar or "" for parameter in context.command.params}
    if not any(metavar.startswith("[--]") for metavar in known):
        return ""
    path = context.command_path.split()
    rest = arguments[len(path) - 1 :]
    shown = " ".join([*path, "--", *rest])
    if rest and not rest[0].startswith("-") and len(shown) < _SHOWN_CALL:
        return f" Put -- before the program if the option is the program's: {shown}."
    return " Put -- before the program if the option is the program's."


def _call_of(arguments: list[str]) -> Call:
    """The call with what `steelyard.toml` adds to it; a wrong command is told of later."""
    name = arguments[0] if arguments else ""
    if name not in COMMANDS or name in LANGUAGES:
        return Call(arguments[1:])
    command = CommandTable.loaded(name)
    return completed_call(name, command, arguments[1:])


def _result(arguments: list[str], call: Call) -> object:
    try:
        return program.main(
            [*arguments[:1], *call.words],
            prog_name="steelyard",
            standalone_mode=False,
            default_map={arguments[0]: call.values} if arguments else None,
        )
    except ModuleNotFoundError as error:
        raise missing_part(error) or error from None
    finally:
        for failure in failed_plugins():
            write_note(f"warning: {failure}")


def _of_the_machine(error: Exception) -> DataError | None:
    """What is said where there was no room, or the machine refused; None of other errors."""
    if not isinstance(error, OSError):
        return None
    if (advice := _REFUSED.get(error.errno or 0)) is not None:
        about = "" if error.filename is None else f": {error.filename}"
        return DataError(f"{error.strerror}{about}. {advice}")
    if error.errno not in _FULL:
        return None
    if error.filename is None:
        _leave_output()
    where = error.filename or "where the answer goes, or a file that was being written"
    return DataError(f"{error.strerror}: {where}. Make room, or write elsewhere.")


def run(arguments: list[str]) -> int:
    """Run one command and give its exit status (DESIGN: 0, 1, 2, 3 or 4; 130 interrupted)."""
    call = Call(arguments[1:])
    try:
        call = _call_of(arguments)
        result = _result(arguments, call)
    except SteelyardError as error:
        return _fail(call.blaming(error), arguments)
    except click.exceptions.NoArgsIsHelpError as error:
        try:
            write_text(error.format_message() + "\n")
        except SteelyardError as second:
            return _fail(second, arguments)
        return 2
    except click.ClickException as error:
        return _fail(call.blaming(_from_click(error, arguments)), arguments)
    except (click.Abort, KeyboardInterrupt):
        write_note("interrupted")
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        _leave_output()
        return 0
    except Exception as error:
        told = _of_the_machine(error) or failure_of_plugin(error)
        if told is None:
            raise
        return _fail(told, arguments)
    return result if isinstance(result, int) else 0


def _interrupt_on(numbers: Iterable[int]) -> None:
    """Let signals that end a process interrupt it; one that is ignored (nohup) stays so."""
    for number in numbers:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)


def _open_closed_streams() -> None:
    """Let streams that the caller closed lead nowhere: the next files that are opened would take
    their numbers, and what the program prints, or one that it starts, would go there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))


def main() -> NoReturn:
    """The console script."""
    _open_closed_streams()
    _interrupt_on((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    status = run(sys.argv[1:])
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # The interpreter's own teardown frees memory that the process is about to return anyway.
    os._exit(status)


if __name__ == "__main__":
    main()
