"""What each way of telling call paths apart would cost, estimated by the calls of a map."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from steelyard.analysis.paths.path_check import RESIZING, WRAPPING, SeparationCost
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import (
    MOST_WRAPPED_RATIO,
    Resizing,
    ResizingRules,
    resized,
)
from steelyard.analysis.paths.wrappable_calls import Call


def separation_costs(
    path_map: PathMap,
    seed: int,
    frames: Mapping[int, int] | None = None,
    calls: Collection[Call] | None = None,
) -> tuple[SeparationCost, ...]:
    """Search sizes of frames, then of wrapped calls too, and what each would cost.

    Parameters
    ----------
    path_map : PathMap
        With at least one path.
    seed : int
        Of the searches.
    frames, calls : optional
        What of a program can be changed, as `ResizingRules` has it; None: all of the map.
    """
    found: list[SeparationCost] = []
    for way in (RESIZING, WRAPPING):
        rules = ResizingRules(
            seed,
            frames=frames,
            wraps_calls=way == WRAPPING,
            calls=calls,
            most_wrapped_ratio=MOST_WRAPPED_RATIO,
        )
        found.append(_cost(way, resized(path_map, rules), path_map.call_count))
    return tuple(found)


def _cost(way: str, found: Resizing, call_count: int) -> SeparationCost:
    return SeparationCost(
        way=way,
        frame_count=len(found.frame_bytes),
        call_count=len(found.call_bytes),
        paths=found.after.paths,
        passed_count=round(found.wrapped_share * call_count),
        passed_share=found.wrapped_share,
        before_bytes=found.before_bytes,
        after_bytes=found.after_bytes,
    )
