"""What it would cost to tell the call paths of a program apart."""

from __future__ import annotations

from steelyard.analysis.paths.path_check import SeparationCost
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.separation_costs import separation_costs

_SEED = 1


def costs_of(path_map: PathMap, program: str | None) -> tuple[SeparationCost, ...]:
    """The price of each way, for what can be changed in a program, or on the map alone.

    Parameters
    ----------
    path_map : PathMap
    program : str or None
        The finished program that the map is of; None: whatever the map has can be changed.

    Raises
    ------
    UsageError
        The program cannot be read.
    """
    if program is None:
        return separation_costs(path_map, _SEED)
    from steelyard.analysis.paths.resizing import calls_learnt
    from steelyard.analysis.paths.wrappable_calls import wrappable_calls
    from steelyard.profile.paths.frame_sizes import read_frames
    from steelyard.profile.paths.wrapped_program import read_calls

    calls, _ = wrappable_calls(read_calls(program), calls_learnt(path_map))
    return separation_costs(path_map, _SEED, read_frames(program).most_bytes(), calls)
