"""The map that what is recorded of a program is looked up in."""

from __future__ import annotations

import os
from contextlib import suppress

from steelyard.analysis.paths.path_map import PathMap, check_build, check_marks
from steelyard.core.errors import DataError
from steelyard.profile.paths.aligned_stacks import with_alignments
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.marked_program import marks_of

FIELD = "--paths"


def matching_map(map_path: str, program: str) -> PathMap:
    """Read a map that `program` is to be looked up in; what starts that program may be anything.

    Raises
    ------
    DataError
        The map is damaged or empty, or of another build of the program.
    """
    path_map = read_map(map_path, FIELD)
    if not path_map.nodes:
        raise DataError(f"The map {map_path} has no paths.", field=FIELD)
    name = os.path.basename(os.path.realpath(program))
    if name == path_map.program:
        with suppress(OSError):
            check_build(path_map, build_of(program), name)
            check_marks(path_map, marks_of(program))
            path_map = with_alignments(path_map, program, FIELD)
    return path_map
