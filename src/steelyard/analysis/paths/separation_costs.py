"""What each way of telling call paths apart would cost, estimated by the calls of a map."""

from __future__ import annotations

from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import (
    MOST_WRAPPED_RATIO,
    Resizing,
    ResizingRules,
    resized,
)
from steelyard.analysis.paths.separation_outcome import (
    MARKING,
    RESIZING,
    WRAPPING,
    SeparationCost,
)


def separation_costs(path_map: PathMap, seed: int) -> tuple[SeparationCost, ...]:
    """What ways would cost if all frames and calls of a map can be changed: larger frames, then
    wrapped calls too, or marked calls too.

    Clones have no price here: the size of functions is not in a map.

    Parameters
    ----------
    path_map : PathMap
        With at least one path.
    seed : int
        Of the searches.
    """
    return tuple(
        separation_cost(
            way,
            resized(
                path_map,
                ResizingRules(
                    seed,
                    wraps_calls=way == WRAPPING,
                    marks_calls=way == MARKING,
                    most_wrapped_ratio=MOST_WRAPPED_RATIO,
                ),
            ),
        )
        for way in (RESIZING, WRAPPING, MARKING)
    )


def separation_cost(way: str, found: Resizing) -> SeparationCost:
    """The price of what a search found.

    Parameters
    ----------
    way : str
        As `SeparationCost` has it.
    found : Resizing
    """
    marks, cloning = found.marks, found.cloning
    passed = found.wrapped_share if marks is None else marks.passed_share
    return SeparationCost(
        way=way,
        frame_count=len(found.frame_bytes),
        call_count=len(found.call_bytes) if marks is None else len(marks.calls),
        paths=found.after.paths,
        passed_count=round(passed * found.path_map.call_count),
        passed_share=passed,
        before_bytes=found.before_bytes,
        after_bytes=found.after_bytes,
        clone_count=0 if cloning is None else len(cloning.choice.clones.clones),
        clone_bytes=0 if cloning is None else cloning.choice.byte_count,
        code_ratio=0.0 if cloning is None else cloning.growth_ratio,
    )
