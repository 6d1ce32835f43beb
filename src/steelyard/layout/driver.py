"""A compiler driver: clang or gfortran, and after each link the relinker."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

from steelyard.core.errors import SteelyardError
from steelyard.layout.command_line import (
    compiler_arguments,
    parse_command_line,
    relinker_arguments,
)
from steelyard.layout.toolchain import Language, find_toolchain
from steelyard.layout.wishes import DEFAULT_PARTS


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
    environment = {**os.environ, "STEELYARD_CLANG": tools.compiler}
    status = subprocess.call(compiler_arguments(line, tools, language), env=environment)
    if status != 0 or not (line.links_program or line.links_library):
        return status if status >= 0 else 128 - status
    relinked = subprocess.run(
        relinker_arguments(line, tools), capture_output=True, text=True, check=False
    )
    if relinked.returncode != 0:
        if os.path.isfile(line.output):
            os.unlink(line.output)
        raise RelinkError(
            f"{line.output} was linked but cannot be made to move: {relinked.stderr.strip()}."
        )
    return 0
