"""What each way of telling call paths apart would cost, estimated by the calls of a map."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from steelyard.analysis.paths.path_check import Outcomes
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import (
    MOST_WRAPPED_RATIO,
    Resizing,
    ResizingRules,
    resized,
)
from steelyard.analysis.paths.wrappable_calls import Call

# docs/adr/0029-calls-are-led-through-wrappers.md: two lea, call and ret.
WRAPPER_INSTRUCTIONS = 4
RESIZING, WRAPPING = "resizing", "wrapping"


@dataclass(frozen=True)
class SeparationCost:
    """A way of telling paths apart: what it resolves of the map's own runs, and its price.

    Parameters
    ----------
    way : str
        `RESIZING`: frames are larger; `WRAPPING`: calls are wrapped too.
    frame_count, call_count : int
        Frames that are larger, and different calls that are wrapped.
    paths : Outcomes
        Of the paths of the map.
    passed_count : int
        Learnt calls that pass a wrapper.
    passed_share : float
        Their part of all learnt calls, from 0 to 1.
    before_bytes, after_bytes : int
        The highest stack at the entry of a function.
    """

    way: str
    frame_count: int
    call_count: int
    paths: Outcomes
    passed_count: int
    passed_share: float
    before_bytes: int
    after_bytes: int

    @property
    def instruction_count(self) -> int:
        """Instructions that the learnt runs would have executed more."""
        return WRAPPER_INSTRUCTIONS * self.passed_count

    @property
    def instructions_per_call(self) -> float:
        """The same for each learnt call."""
        return WRAPPER_INSTRUCTIONS * self.passed_share

    @property
    def growth_ratio(self) -> float:
        """How many times as high the highest stack becomes."""
        return self.after_bytes / self.before_bytes if self.before_bytes else 1.0


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
