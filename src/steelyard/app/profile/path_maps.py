"""Learn the call paths of a program into a map, and judge maps."""

from __future__ import annotations

import os
from collections.abc import Sequence

from steelyard.analysis.paths.learning import Learning
from steelyard.analysis.paths.path_map import (
    PathNumbers,
    check_build,
    check_call_sites,
    check_marks,
    merged,
)
from steelyard.app.profile.program_check import check_program


def learn_paths(
    argv: Sequence[str], map_path: str, program: str | None, call_sites: bool = False
) -> Learning:
    """Run a command, and add the paths that its program took to a map.

    Parameters
    ----------
    argv : sequence of str
    map_path : str
        Made where there is none.
    program : str or None
        The file whose functions are watched; None: the one that the command names.
    call_sites : bool
        Paths differ by their call sites, too.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `profile.paths.learning_run.learning_run`.
    DataError
        The map is damaged, or of another build, or one of the two has call sites.
    """
    from steelyard.app.profile.path_recording import refuse_moving
    from steelyard.profile.executable import executable_of
    from steelyard.profile.paths.aligned_stacks import with_alignments
    from steelyard.profile.paths.learning_run import build_of, learning_run
    from steelyard.profile.paths.map_file import read_map, write_map
    from steelyard.profile.paths.marked_program import marks_of

    executable_of(argv)
    if program is not None:
        check_program(program)
    watched = executable_of(argv if program is None else (os.path.abspath(program),))
    refuse_moving(watched, {})
    before = read_map(map_path, "--output") if os.path.lexists(map_path) else None
    if before is not None:
        check_build(before, build_of(watched), os.path.basename(watched))
        check_marks(before, marks_of(watched))
        check_call_sites(before, call_sites)
        before = with_alignments(before, watched, "--output")
    run = learning_run(argv, watched, call_sites=call_sites)
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
