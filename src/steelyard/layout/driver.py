"""A compiler driver: clang or gfortran, and after each link the relinker."""

from __future__ import annotations

import os

from steelyard.core.errors import SteelyardError
from steelyard.layout.command_line import parse_command_line
from steelyard.layout.compiler_call import compiler_arguments, relinker_arguments
from steelyard.layout.layout_request import DEFAULT_PARTS
from steelyard.layout.split_compile import split_compile
from steelyard.layout.toolchain import find_toolchain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.layout.command_line import CommandLine
    from steelyard.layout.toolchain import Language, Toolchain

# Python ignores these, and what it starts would too: SIGPIPE and SIGXFSZ. The module that names
# them takes 3 ms to load.
_IGNORED_BY_PYTHON = (13, 25)


class RelinkError(SteelyardError):
    """A program was linked and cannot be made to move."""

    code = "relink"
    exit_status = 1


def drive(arguments: Sequence[str], language: Language, tell: Callable[[str], None]) -> int:
    """Compile and link with `arguments`, so that the program moves while it runs.

    Parameters
    ----------
    arguments : sequence of str
        Those of the compiler, ``--layout``, ``--layout-interval`` and ``--layout-seed``.
    language : str
        Whose driver to be.
    tell : callable
        Takes a sentence about each option that is not kept.

    Returns
    -------
    int
        The exit status of the compiler.

    Raises
    ------
    UsageError
        An option is wrong, or cannot be with a moving program.
    MissingCapabilityError
        The machine lacks the toolchain.
    RelinkError
        The linked program cannot be read or written; it is removed.
    """
    default_parts = ("code", "heap") if language == "fortran" else DEFAULT_PARTS
    line = parse_command_line(arguments, default_parts)
    tools = find_toolchain(language)
    for sentence in line.left_out:
        tell(sentence)
    environment = {
        **os.environ,
        "STEELYARD_CLANG": tools.compiler,
        "STEELYARD_AS": tools.assembler,
    }
    status = _compile(line, tools, language, environment)
    if status != 0 or not (line.links_program or line.links_library):
        return status
    # A link into /dev/null leaves nothing to move.
    if not os.path.isfile(line.output):
        return 0
    return _relink(relinker_arguments(line, tools), line.output)


def _compile(
    line: CommandLine, tools: Toolchain, language: Language, environment: dict[str, str]
) -> int:
    argv = compiler_arguments(line, tools, language)
    assembly = os.path.join(_temporary_folder(), f"steelyard-{os.urandom(8).hex()}.s")
    calls = split_compile(line, tools, argv, assembly)
    if calls is None:
        return _run(argv, environment)
    try:
        return _run(calls[0], environment) or _run(calls[1], environment)
    finally:
        if os.path.lexists(assembly):
            os.unlink(assembly)


def _temporary_folder() -> str:
    """As clang finds it."""
    names = ("TMPDIR", "TMP", "TEMP", "TEMPDIR")
    return next(filter(None, map(os.environ.get, names)), "/tmp")


def _relink(argv: Sequence[str], output: str) -> int:
    import subprocess

    relinked = subprocess.run(argv, capture_output=True, text=True, check=False)
    if relinked.returncode != 0:
        os.unlink(output)
        raise RelinkError(
            f"{output} was linked but cannot be made to move: {relinked.stderr.strip()}."
        )
    return 0


def _run(argv: list[str], environment: dict[str, str]) -> int:
    """The status of a command as a shell gives it. An interrupted caller interrupts it too."""
    process = os.posix_spawn(argv[0], argv, environment, setsigdef=_IGNORED_BY_PYTHON)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except BaseException:
        os.kill(process, 15)
        os.waitpid(process, 0)
        raise
    return status if status >= 0 else 128 - status
