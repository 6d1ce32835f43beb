"""Learn the call paths of a program into a map, and judge maps."""

from __future__ import annotations

import os
from collections.abc import Sequence

from steelyard.analysis.paths.crash_path import CrashPath
from steelyard.analysis.paths.learning import Learning
from steelyard.analysis.paths.path_map import PathNumbers, check_build, merged
from steelyard.core.decoding import open_regular
from steelyard.core.errors import UsageError


def learn_paths(argv: Sequence[str], map_path: str, program: str | None) -> Learning:
    """Run a command, and add the paths that its program took to a map.

    Parameters
    ----------
    argv : sequence of str
    map_path : str
        Made where there is none.
    program : str or None
        The file whose functions are watched; None: the one that the command names.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `profile.paths.learning_run.learning_run`.
    DataError
        The map is damaged, or of another build.
    """
    from steelyard.app.profile.path_profile import refuse_moving
    from steelyard.profile.executable import executable_of
    from steelyard.profile.paths.learning_run import build_of, learning_run
    from steelyard.profile.paths.map_file import read_map, write_map

    executable_of(argv)
    if program is not None:
        check_program(program)
    watched = executable_of(argv if program is None else (os.path.abspath(program),))
    refuse_moving(watched, {})
    before = read_map(map_path, "--output") if os.path.lexists(map_path) else None
    if before is not None:
        check_build(before, build_of(watched), os.path.basename(watched))
    run = learning_run(argv, watched)
    path_map = run.path_map if before is None else merged(before, run.path_map)
    write_map(path_map, map_path)
    numbers = PathNumbers()
    known = set(numbers.of(before.nodes)) if before is not None else set[int]()
    paths = set(numbers.of(path_map.nodes))
    return Learning(
        map_path,
        path_map,
        len(paths),
        len(paths - known),
        run.function_count,
        run.thread_count,
        run.exit_status,
    )


def check_program(path: str) -> None:
    """Refuse a program that cannot be read.

    Raises
    ------
    UsageError
    """
    try:
        os.close(open_regular(path))
    except OSError as error:
        raise UsageError(
            f"The program {path} cannot be read: {error.strerror}.", field="--program"
        ) from None


def crash_path(map_path: str, core_path: str, program: str | None) -> CrashPath:
    """The paths by which a program that crashed may have come to where it was.

    Parameters
    ----------
    map_path, core_path : str
    program : str or None
        The program's file; None: the one that the core file names.

    Raises
    ------
    UsageError
        The program cannot be read.
    DataError
        A file is damaged or of another build, or the crash was not in the first thread.
    """
    from contextlib import closing

    from steelyard.analysis.paths.lookup import candidates
    from steelyard.profile.executable import FunctionNames
    from steelyard.profile.paths.core_file import CoreFile
    from steelyard.profile.paths.crash_key import crash_key, program_of, whole_functions
    from steelyard.profile.paths.learning_run import build_of
    from steelyard.profile.paths.map_file import read_map

    path_map = read_map(map_path)
    if program is not None:
        check_program(program)
    with closing(CoreFile(core_path)) as core:
        path = program or program_of(core)
        check_program(path)
        check_build(path_map, build_of(path), os.path.basename(path))
        key = crash_key(core, path)
    # A map may name a function by either of its parts.
    whole = whole_functions(path, [key.function, *path_map.functions])
    function = whole[key.function]
    parts = frozenset(at for at, owner in whole.items() if owner == function)
    return CrashPath(
        FunctionNames(path).at(function),
        key.height_bytes,
        key.library_frame_count,
        key.signal,
        candidates(path_map, parts, key.height_bytes),
    )
