"""Functions that align their stack, so that heights below them depend on where the stack begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from steelyard.analysis.paths.path_map import Alignment, PathMap
from steelyard.analysis.paths.stack_alignment import known_alignment
from steelyard.core.errors import DataError
from steelyard.profile.paths.planner_output import planner_lines

_UNKNOWN = "-"
_SHOWN = 5


def aligning_functions(program: str, field: str = "command") -> dict[int, Alignment]:
    """The functions of a program that align their stack to more than 16 bytes, by address.

    Parameters
    ----------
    program : str
        An ELF file for x86-64.
    field : str
        The option that names it.

    Raises
    ------
    UsageError
        It is no program that can be read.
    MissingCapabilityError
        The planner was not built.
    """
    rows = (line.split() for line in planner_lines("--aligned", program, "aligned stacks", field))
    return {
        int(address, 16): known_alignment(int(size), None if depth == _UNKNOWN else int(depth))
        for address, size, depth in rows
    }


def with_alignments(path_map: PathMap, program: str, field: str = "map") -> PathMap:
    """A map that says which of its functions align their stack.

    One that was written before this was kept is as good where none does.

    Parameters
    ----------
    path_map : PathMap
    program : str
        The file that it is of.
    field : str
        The option that names the map.

    Raises
    ------
    DataError
        It was written before, and functions of it do.
    UsageError, MissingCapabilityError
        As `aligning_functions`.
    """
    if path_map.aligning is not None:
        return path_map
    found = [at for at in aligning_functions(program, field) if at in path_map.functions]
    if found:
        shown = shown_names([path_map.functions[at] for at in found])
        raise DataError(
            f"The map was learnt by a version that did not follow aligned stacks.\n{shown} of "
            f"{path_map.program} align the stack, so that its heights hold for one environment "
            "alone. Learn the program anew, with another --output.",
            field=field,
        )
    return replace(path_map, aligning={})


def shown_names(names: Sequence[str]) -> str:
    """The first of some names."""
    hidden = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")
