"""What frames of other sizes, and wrapped calls, would give of the call paths of a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from steelyard.analysis.paths.cloning_outcome import CloningOutcome
from steelyard.analysis.paths.height_steps import height_steps
from steelyard.analysis.paths.markable_calls import MarkableCalls
from steelyard.analysis.paths.marked_calls import MarkedCalls, marked_calls
from steelyard.analysis.paths.other_marks import with_others
from steelyard.analysis.paths.path_check import judged
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.path_marks import MARK_BYTES
from steelyard.analysis.paths.path_order import path_order
from steelyard.analysis.paths.path_outcomes import ScenarioOutcomes
from steelyard.analysis.paths.separation_search import (
    GOAL,
    SearchRules,
    Separation,
    separate,
)
from steelyard.analysis.paths.stack_alignment import more_by_alignment

# The stack may become so many times as high. The thesis needed up to 2.54 times for a program, and
# 1.13 in the geometric mean (table 5.3), which this keeps for programs that recurse too.
BUDGET_RATIO = 1.75
# Part of the learnt calls that may be led through wrappers. A wrapper takes four instructions, and
# most programs execute 20 or more a call, so that this is below 0.3 % of instructions for them.
MOST_WRAPPED_RATIO = 0.01


@dataclass(frozen=True)
class ResizingRules:
    """What is searched, and what it may cost.

    Parameters
    ----------
    seed : int
    frames : mapping of int to int, optional
        Functions whose frames can grow, and by how many bytes; None: all of the map.
    wraps_calls : bool
        Calls of one function by another are wrapped too.
    calls : collection of (int, int), optional
        Callers and callees whose calls can be wrapped; None: all of the map.
    most_wrapped_ratio : float
        Part of the learnt calls that may be led through wrappers, from 0 to 1.
    budget_ratio : float
        How many times as high as before the highest stack may be, at least 1.
    goal : float
        Share of keys with one path, from 0 to 1, at which the search ends.
    marks_calls : bool
        Calls are marked that tell apart what heights do not.
    markable : sequence of MarkableCalls, optional
        Those that can be marked; None: all of the map.
    first_bytes : mapping of int to int
        By how much frames grow in the state that the search begins with.
    others : sequence of MarkableCalls
        Calls to be marked too, whatever they tell apart.
    """

    seed: int
    frames: Mapping[int, int] | None = None
    wraps_calls: bool = False
    budget_ratio: float = BUDGET_RATIO
    goal: float = GOAL
    marks_calls: bool = False
    calls: Collection[tuple[int, int]] | None = None
    most_wrapped_ratio: float = 1.0
    markable: Sequence[MarkableCalls] | None = None
    first_bytes: Mapping[int, int] = field(default_factory=dict[int, int])
    others: Sequence[MarkableCalls] = ()


@dataclass(frozen=True)
class Resizing:
    """Sizes of frames, and what they give.

    Parameters
    ----------
    path_map : PathMap
        As it would be learnt of the changed program, but for its build.
    program, build : str
        What it was learnt of.
    rules : ResizingRules
    frame_bytes : dict of int to int
        By how much the frame of each function grows.
    call_bytes : dict of (int, int) to int
        What is put around the calls of a caller to a callee.
    separation : Separation
    before, after : ScenarioOutcomes
        What the map resolves of its own runs.
    before_bytes, after_bytes : int
        The highest stack at the entry of a function.
    marks : MarkedCalls or None
        What makes every path exact, if that was asked for.
    rigid : dict of str to str
        Functions of a program whose frames cannot grow, and why.
    unwrapped : dict of (str, str) to str
        Callers and callees whose calls cannot be wrapped in a program, and why.
    unmarked : dict of (str, str) to str
        Those whose calls cannot be marked.
    wrapped_share : float
        Part of the learnt calls that are led through wrappers.
    cloning : CloningOutcome or None
        Functions of a program that are cloned, if that was asked for.
    unlearnt_frame_bytes : dict of int to int
        By how much frames of functions grow that no learnt path has.
    """

    path_map: PathMap
    program: str
    build: str
    rules: ResizingRules
    frame_bytes: dict[int, int]
    call_bytes: dict[tuple[int, int], int]
    separation: Separation
    before: ScenarioOutcomes
    after: ScenarioOutcomes
    before_bytes: int
    after_bytes: int
    marks: MarkedCalls | None = None
    rigid: dict[str, str] = field(default_factory=dict[str, str])
    unwrapped: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    unmarked: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    wrapped_share: float = 0.0
    cloning: CloningOutcome | None = None
    unlearnt_frame_bytes: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def growth_ratio(self) -> float:
        """How many times as high the highest stack becomes."""
        return self.after_bytes / self.before_bytes if self.before_bytes else 1.0


def resized(path_map: PathMap, rules: ResizingRules) -> Resizing:
    """Search sizes of frames, and of wrappers around calls, that tell the paths of a map apart.

    Parameters
    ----------
    path_map : PathMap
        With at least one path.
    rules : ResizingRules
    """
    order = path_order(path_map.nodes)
    most = {} if rules.frames is None else {(at, ROOT): size for at, size in rules.frames.items()}
    frames = path_map.functions if rules.frames is None else rules.frames
    passes = calls_learnt(path_map)
    most_passes = int(rules.most_wrapped_ratio * path_map.call_count)
    calls = _cheap_calls(passes, most_passes, rules) if rules.wraps_calls else {}
    before_bytes = int(order.heights_bytes.max())
    found = separate(
        order,
        height_steps(order, frames, calls),
        SearchRules(
            int(before_bytes * rules.budget_ratio),
            rules.seed,
            most,
            rules.goal,
            passes=calls,
            most_passes=most_passes,
            first={(at, ROOT): size for at, size in rules.first_bytes.items()},
        ),
    )
    frame_bytes = {at: size for (at, to), size in found.bytes_by_step.items() if to == ROOT}
    call_bytes = {call: size for call, size in found.bytes_by_step.items() if call[1] != ROOT}
    after = with_sizes(path_map, frame_bytes, call_bytes)
    marks = marked_calls(after, rules.seed, rules.markable) if rules.marks_calls else None
    if marks is not None:
        marks = with_others(marks, rules.others, rules.seed, passes)
        after = with_marks(after, marks.numbers)
    return Resizing(
        path_map=after,
        program=path_map.program,
        build=path_map.build,
        rules=rules,
        frame_bytes=frame_bytes,
        call_bytes=call_bytes,
        separation=found,
        before=judged(path_map).offline,
        after=judged(after).offline,
        before_bytes=before_bytes,
        after_bytes=max(node.height_bytes for node in after.nodes),
        marks=marks,
        wrapped_share=sum(map(passes.__getitem__, call_bytes)) / max(path_map.call_count, 1),
    )


def calls_learnt(path_map: PathMap) -> Counter[tuple[int, int]]:
    """How often each caller was seen to call each callee."""
    found: Counter[tuple[int, int]] = Counter()
    for node in path_map.nodes:
        if node.parent != ROOT:
            found[path_map.nodes[node.parent].function, node.function] += node.call_count
    return found


def _cheap_calls(
    passes: Mapping[tuple[int, int], int], most: int, rules: ResizingRules
) -> dict[tuple[int, int], int]:
    """What can be wrapped, each at a price that can be paid; what was never counted has none."""
    return {
        call: count
        for call, count in passes.items()
        if 0 < count <= most and (rules.calls is None or call in rules.calls)
    }


def with_marks(path_map: PathMap, numbers: Mapping[tuple[int, int], int]) -> PathMap:
    """The map as it would be learnt of a program with marked calls, by their numbers."""
    marked = with_sizes(path_map, {}, dict.fromkeys(numbers, MARK_BYTES))
    return replace(marked, marks=dict(numbers))


def with_sizes(
    path_map: PathMap,
    frame_bytes: Mapping[int, int],
    call_bytes: Mapping[tuple[int, int], int],
) -> PathMap:
    """The map as it would be learnt of a program with larger frames and wrapped calls.

    Parameters
    ----------
    path_map : PathMap
    frame_bytes : mapping of int to int
        By how much the frame of each function grows.
    call_bytes : mapping of (int, int) to int
        What is put around the calls of a caller to a callee.
    """
    grown: list[int] = []
    nodes: list[PathNode] = []
    for node in path_map.nodes:
        below = 0
        if node.parent != ROOT:
            caller = path_map.nodes[node.parent].function
            below = grown[node.parent] + frame_bytes.get(caller, 0)
            below += call_bytes.get((caller, node.function), 0)
        nodes.append(node._replace(height_bytes=node.height_bytes + below))
        grown.append(below + more_by_alignment(path_map, node, below))
    return replace(path_map, nodes=tuple(nodes))
