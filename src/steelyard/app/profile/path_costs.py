"""What it would cost to tell the call paths of a program apart."""

from __future__ import annotations

from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.separation_costs import separation_cost, separation_costs
from steelyard.analysis.paths.separation_outcome import (
    CLONING,
    MARKING,
    RESIZING,
    WRAPPING,
    SeparationCosts,
)
from steelyard.core.errors import DataError

_SEED = 1
# As `resize --most-code` has it.
_MOST_CLONED_RATIO = 0.1


def costs_of(path_map: PathMap, program: str | None) -> SeparationCosts:
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
        refused = {CLONING: "the size of functions is not in a map: give -- CMD"}
        return SeparationCosts(separation_costs(path_map, _SEED), refused)
    from steelyard.analysis.paths.resizing import BUDGET_RATIO
    from steelyard.analysis.paths.separation_search import GOAL
    from steelyard.app.profile.path_resizing import ResizingRequest, resize_map

    costs, refused = [], dict[str, str]()
    for way in (RESIZING, WRAPPING, CLONING, MARKING):
        request = ResizingRequest(
            map_path="",
            seed=_SEED,
            wraps_calls=way == WRAPPING,
            marks_calls=way == MARKING,
            budget_ratio=BUDGET_RATIO,
            goal=GOAL,
            most_cloned_ratio=_MOST_CLONED_RATIO if way == CLONING else None,
            program=program,
        )
        try:
            costs.append(separation_cost(way, resize_map(path_map, request)))
        except DataError as error:
            refused[way] = str(error)
    return SeparationCosts(tuple(costs), refused)
