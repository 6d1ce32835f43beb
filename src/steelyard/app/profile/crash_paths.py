"""The call paths by which a program that crashed may have come to where it was."""

from __future__ import annotations

import os
from dataclasses import dataclass

from steelyard.analysis.paths.crash_path import CrashPath
from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.path_map import PathMap, check_build
from steelyard.analysis.paths.static_map import AllowedPaths
from steelyard.app.profile.program_check import check_program
from steelyard.core.errors import UsageError


@dataclass(frozen=True)
class LoggedCrash:
    """What was logged of a crash.

    Parameters
    ----------
    line : str or None
        A line of the kernel's log, which has the next three; None: those are given.
    pc, sp, image : int
        Instruction and stack pointer in memory, and where the program was loaded (0: where its
        file says).
    frame_pointer, base : int or None
        Where the thread's stack begins.
    """

    line: str | None
    pc: int = 0
    sp: int = 0
    image: int = 0
    frame_pointer: int | None = None
    base: int | None = None


def crash_path(
    map_path: str | None, core_path: str, program: str | None, by_code: bool = False
) -> CrashPath:
    """The paths by which a program that crashed may have come to where it was.

    Parameters
    ----------
    map_path : str or None
        None: nothing was learnt.
    core_path : str
    program : str or None
        The program's file; None: the one that the core file names.
    by_code : bool
        Search the program's code for the paths of a key that was never learnt.

    Raises
    ------
    UsageError
        The program cannot be read.
    DataError
        A file is damaged or of another build, or the crash was not in the first thread.
    """
    from contextlib import closing

    from steelyard.profile.paths.core_file import CoreFile
    from steelyard.profile.paths.crash_key import crash_key, program_of

    path_map = _read(map_path)
    if program is not None:
        check_program(program)
    with closing(CoreFile(core_path)) as core:
        path = program or program_of(core)
        check_program(path)
        path_map = _checked(path_map, path)
        key = crash_key(core, path)
        start = core.stack_start()
    function, found = _candidates(path_map, path, key.function, key.height_bytes, start)
    allowed = None
    if by_code and not found:
        allowed = _allowed(path_map, path, key.function, key.height_bytes)
    return CrashPath(
        function, key.height_bytes, key.library_frame_count, key.signal, found, allowed
    )


def logged_crash_path(
    map_path: str | None, program: str, logged: LoggedCrash, by_code: bool = False
) -> CrashPath:
    """The same of a program of which registers were logged.

    Parameters
    ----------
    map_path : str or None
    program : str
    logged : LoggedCrash
    by_code : bool

    Raises
    ------
    UsageError
        The line of the log is none, a register is missing, or the code is to be searched and
        where the stack begins is not known.
    DataError
        A file is damaged or of another build, or no table covers the instruction.
    """
    from steelyard.profile.paths.logged_registers import (
        LoggedRegisters,
        address_in_file,
        logged_key,
    )

    path_map = _read(map_path)
    check_program(program)
    path_map = _checked(path_map, program)
    if logged.line is not None:
        pc, sp = address_in_file(program, logged.line)
    else:
        pc, sp = logged.pc - logged.image, logged.sp
    key = logged_key(program, LoggedRegisters(pc, sp, logged.frame_pointer, logged.base))
    function, found = _candidates(path_map, program, key.function, key.height_bytes, logged.base)
    allowed = None
    if by_code and not found:
        if key.height_bytes is None:
            raise UsageError(
                "--static searches for a height of the stack: give --base, where that begins.",
                field="--base",
            )
        allowed = _allowed(path_map, program, key.function, key.height_bytes)
    return CrashPath(function, key.height_bytes, 0, None, found, allowed)


def _read(map_path: str | None) -> PathMap | None:
    from steelyard.profile.paths.map_file import read_map

    return None if map_path is None else read_map(map_path)


def _checked(path_map: PathMap | None, program: str) -> PathMap | None:
    from steelyard.profile.paths.aligned_stacks import with_alignments
    from steelyard.profile.paths.learning_run import build_of

    if path_map is None:
        return None
    check_build(path_map, build_of(program), os.path.basename(program))
    return with_alignments(path_map, program)


def _allowed(
    path_map: PathMap | None, program: str, function: int, height_bytes: int
) -> AllowedPaths:
    from steelyard.app.profile.static_paths import ProgramCode

    return ProgramCode(program, path_map).allowed(function, height_bytes)


def _candidates(
    path_map: PathMap | None,
    program: str,
    function: int,
    height_bytes: int | None,
    stack_start: int | None,
) -> tuple[str, tuple[Candidate, ...]]:
    """A function's name, and the paths of its key."""
    from steelyard.analysis.paths.lookup import candidates
    from steelyard.profile.executable import FunctionNames
    from steelyard.profile.paths.crash_key import whole_functions

    # A map may name a function by either of its parts.
    learnt = () if path_map is None else path_map.functions
    whole = whole_functions(program, [function, *learnt])
    owner = whole[function]
    if path_map is None:
        return FunctionNames(program).at(owner), ()
    parts = frozenset(at for at, whose in whole.items() if whose == owner)
    return FunctionNames(program).at(owner), candidates(path_map, parts, height_bytes, stack_start)
