"""The compiler drivers: clang or gfortran under the command's name, for programs that move.

Loaded before the command line, as `configure` calls a driver a thousand times: it imports only what
a call needs.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.app.layout.moving_programs import Language

LANGUAGES: dict[str, Language] = {"cc": "c", "c++": "c++", "fc": "fortran"}
_INTERRUPTED_STATUS = 130
_HELP = """\
Usage: steelyard {command} [OPTIONS OF {COMPILER}] FILES...

  Compile and link {language} as {compiler} does; the program's {parts} move while it runs.

Options:
  --layout=PARTS          What to randomise: some of {choice} with commas,
                          or none. When compiling and when linking.  [default: {default}]
  --layout-interval=TIME  How often: such as 500ms or 2s, or off: once, at the start.
                          [default: 500ms]
  --layout-seed=N         Draw from this seed in each run.  [default: another one each time]
  --help                  Show this message.

These are the program's own wishes. Its environment has the last word: STEELYARD_LAYOUT=PARTS,
STEELYARD_LAYOUT_INTERVAL=TIME, STEELYARD_LAYOUT_SEED=N, STEELYARD_LAYOUT_REPORT=FILE.

All other options are those of {compiler}: `steelyard {command} {clang_help}` lists them.
`steelyard layout audit PROGRAM` lists what moves in a program and what does not.
"""


def call_driver(command: str, arguments: Sequence[str]) -> int:
    """Be the driver `command` and give its exit status.

    Raises
    ------
    SteelyardError
        What `drive_compiler` raises.
    """
    if "--help" in arguments:
        from steelyard.cli.console.output import write_text

        write_text(_help(command))
        return 0
    from steelyard.app.layout.moving_programs import drive_compiler

    return drive_compiler(arguments, LANGUAGES[command], _tell)


def run_driver(command: str, arguments: Sequence[str]) -> int:
    """Be the driver `command` as a process: its exit status, errors told."""
    from steelyard.core.errors import SteelyardError

    _end_by_signals()
    try:
        return call_driver(command, arguments)
    except SteelyardError as error:
        _tell(f"error: {error.message}")
        return error.exit_status
    except KeyboardInterrupt:
        return _INTERRUPTED_STATUS
    except OSError as error:
        _tell(f"error: the compiler cannot be called: {error.strerror}.")
        return 1


def _help(command: str) -> str:
    is_fortran = command == "fc"
    compiler = "gfortran" if is_fortran else "clang"
    return _HELP.format(
        command=command,
        compiler=compiler,
        COMPILER=compiler.upper(),
        language={"cc": "C", "c++": "C++", "fc": "Fortran"}[command],
        parts="code and heap" if is_fortran else "code, stack and heap",
        choice="code, heap, blocks" if is_fortran else "code, stack, heap, blocks",
        default="code,heap" if is_fortran else "code,stack,heap",
        clang_help="-v --help=common" if is_fortran else "-help",
    )


def _tell(text: str) -> None:
    """One line beside the answer; where nobody reads standard error, it is lost."""
    try:
        os.write(2, f"steelyard: {text}\n".encode("utf-8", "replace"))
    except OSError:
        return


def _end_by_signals() -> None:
    """Let a signal that ends this process end the compiler too; one that is ignored stays so."""
    # `signal` names these, and takes 3 ms to load.
    import _signal  # pyright: ignore[reportMissingModuleSource, reportMissingImports]

    for number in (1, 15):
        if _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, _signal.default_int_handler)


def has_all_streams() -> bool:
    """Whether nobody closed one of the standard streams."""
    return None not in (sys.stdin, sys.stdout, sys.stderr)
