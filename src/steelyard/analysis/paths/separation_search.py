"""A search for frames and calls to make higher, so that keys tell paths apart.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.4.1.1. Other
than there it has a budget of stack, ends where no sizes could do more, draws the order in which
the steps of a pair are tried, and takes two keys where there was one for progress too. It begins
several times, and in the end makes smaller what need not be as large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from steelyard.analysis.paths.height_steps import HeightSteps, Step, StepCounts
from steelyard.analysis.paths.path_keys import KeyCounts, PathKeys
from steelyard.analysis.paths.path_order import Integers, PathOrder
from steelyard.core.rng import derive_seed

# The ABI of x86-64 aligns the stack of a called function to 16 bytes (thesis, step 3).
GRAIN_BYTES = 16
# Section 5.4.1.1: the share of keys at which it ends, the tries without progress after which it
# ends, and those after which it takes a worse state.
GOAL, IDLE_LIMIT, WORSE_LIMIT = 0.97, 2000, 100
_TRIES_A_PAIR = 4
# Heights that are looked at in all, of one node each, and what else a try takes in the same
# measure: a minute or less on a machine of 2020.
_MOST_WORK, _WORK_A_TRY = 2_000_000_000, 3_000
# The part of it that growing may take; making smaller may take the rest.
_GROWING = 0.8
_STARTS = 8
# Sums of so large sizes, drawn once, are hardly ever the same by chance.
_MOST_DRAWN = 1 << 20


@dataclass(frozen=True)
class SearchRules:
    """When the search ends, and what it may not exceed.

    Parameters
    ----------
    limit_bytes : int
        No path becomes higher, unless one was already.
    seed : int
    most_bytes : mapping of Step to int
        By how much some steps can grow; others have no limit.
    goal : float
        Share of keys with one path at which it ends.
    idle_limit, worse_limit : int
        Tries without progress.
    passes : mapping of Step to int
        How often some steps are passed if they grow; others cost nothing.
    most_passes : int
        How often steps that grow may be passed in all.
    first : mapping of Step to int
        Sizes that the search begins with, within the limits.
    """

    limit_bytes: int
    seed: int
    most_bytes: Mapping[Step, int] = field(default_factory=dict[Step, int])
    goal: float = GOAL
    idle_limit: int = IDLE_LIMIT
    worse_limit: int = WORSE_LIMIT
    passes: Mapping[Step, int] = field(default_factory=dict[Step, int])
    most_passes: int = 0
    first: Mapping[Step, int] = field(default_factory=dict[Step, int])


@dataclass(frozen=True)
class Separation:
    """What a search found.

    Parameters
    ----------
    bytes_by_step : dict of Step to int
        By how much each grows.
    heights_bytes : array of int
        Of the nodes, in their order.
    key_limit : int
        Keys if each path had its own at each of its heights.
    before_count, after_count, most_count : int
        Keys with one path: without changes, with them, and with sizes without a limit.
    tried_count : int
    ended_by : str
        `goal`, `most`, `idle`, or `work`: it had done as much as it may.
    """

    bytes_by_step: dict[Step, int]
    heights_bytes: Integers
    key_limit: int
    before_count: int
    after_count: int
    most_count: int
    tried_count: int
    ended_by: str


@dataclass(frozen=True)
class _State:
    sizes: Integers
    heights: Integers
    counts: KeyCounts
    passes: int = 0

    @property
    def score(self) -> int:
        return self.counts.different + self.counts.with_one_path


def separate(order: PathOrder, steps: HeightSteps, rules: SearchRules) -> Separation:
    """Search sizes of steps that give as many paths as possible a key of their own.

    Parameters
    ----------
    order : PathOrder
        With at least one node.
    steps : HeightSteps
    rules : SearchRules
    """
    return _Search(order, steps, rules).run()


class _Search:
    def __init__(self, order: PathOrder, steps: HeightSteps, rules: SearchRules) -> None:
        self._order = order
        self._names = steps.names
        self._rules = rules
        self._random = np.random.default_rng(derive_seed(rules.seed, "separation"))
        self._limit_bytes = max(rules.limit_bytes, int(order.heights_bytes.max()))
        self._steps = StepCounts(order, steps)
        self._keys = PathKeys(order, self._limit_bytes)
        unlimited = self._limit_bytes
        self._passes = [rules.passes.get(name, 0) for name in steps.names]
        self._most_bytes = [rules.most_bytes.get(name, unlimited) for name in steps.names]
        none = np.zeros(len(steps.names), dtype=np.int64)
        counts = self._keys.counts(order.heights_bytes)
        self._state = _State(none, order.heights_bytes, counts)
        self._ambiguous: tuple[Integers, Integers] | None = None
        self._work = 0

    def run(self) -> Separation:
        before = self._state
        first = self._first()
        most = self._most_count(max(one.counts.with_one_path for one in (before, first)))
        goal = min(most, int(np.ceil(self._rules.goal * self._keys.most)))
        best, tried = self._grown(first, goal)
        best = self._lowered(best, goal)
        for _ in range(_STARTS - 1):
            is_best = _worth(best, goal) == (goal, -int(before.heights.max()), 0)
            if is_best or self._work > _GROWING * _MOST_WORK:
                break
            other, more = self._grown(first, goal)
            tried += more
            best = max(best, self._lowered(other, goal), key=lambda one: _worth(one, goal))
        found = best.counts.with_one_path
        return Separation(
            bytes_by_step={
                self._names[step]: int(best.sizes[step])
                for step in np.flatnonzero(best.sizes).tolist()
            },
            heights_bytes=best.heights,
            key_limit=self._keys.most,
            before_count=before.counts.with_one_path,
            after_count=found,
            most_count=most,
            tried_count=tried,
            ended_by=self._end(found, goal, most),
        )

    def _grown(self, first: _State, goal: int) -> tuple[_State, int]:
        """The best state that is found from one on, and how many were tried."""
        rules = self._rules
        best = self._state = first
        self._ambiguous = None
        idle = failed = tried = 0
        while best.counts.with_one_path < goal and idle < rules.idle_limit:
            if self._work > _GROWING * _MOST_WORK:
                break
            tried += 1
            idle += 1
            if self._advances(takes_worse=failed >= rules.worse_limit):
                failed = 0
                if self._state.counts.with_one_path > best.counts.with_one_path:
                    best, idle = self._state, 0
            else:
                failed += 1
        return best, tried

    def _lowered(self, state: _State, goal: int) -> _State:
        """Make steps smaller while as many keys have one path as had, or as are wanted; those
        first that the highest stack has most of."""
        least = min(goal, state.counts.with_one_path)
        is_lower = True
        while is_lower:
            is_lower = False
            top = int(state.heights.argmax())
            grown = np.flatnonzero(state.sizes).tolist()
            above = {step: int(self._steps.on_paths(step)[top]) for step in grown}
            for step in sorted(grown, key=lambda one: -int(state.sizes[one]) * above[one]):
                lower = self._smaller(state, step, least)
                if lower is not None:
                    state, is_lower = lower, True
        return state

    def _smaller(self, state: _State, step: int, least: int) -> _State | None:
        """The state where a step has gone, or else is smaller by a half, a quarter ... of it."""
        size = int(state.sizes[step])
        less = size
        while less and self._work <= _MOST_WORK:
            heights = state.heights - less * self._steps.on_paths(step)
            self._work += len(heights) + _WORK_A_TRY
            found = self._keys.counts(heights)
            if found.with_one_path >= least:
                sizes = state.sizes.copy()
                sizes[step] -= less
                passes = state.passes - (self._passes[step] if less == size else 0)
                return _State(sizes, heights, found, passes)
            less = less // 2 // GRAIN_BYTES * GRAIN_BYTES
        return None

    def _first(self) -> _State:
        if not self._rules.first:
            return self._state
        sizes, heights = self._state.sizes.copy(), self._state.heights.copy()
        for step, name in enumerate(self._names):
            sizes[step] = self._rules.first.get(name, 0)
            if sizes[step]:
                heights += int(sizes[step]) * self._steps.on_paths(step)
        passes = sum(self._passes[step] for step in np.flatnonzero(sizes).tolist())
        return _State(sizes, heights, self._keys.counts(heights), passes)

    def _end(self, found: int, goal: int, most: int) -> str:
        if found >= goal:
            return "most" if found >= most else "goal"
        return "work" if self._work > _GROWING * _MOST_WORK else "idle"

    def _most_count(self, before: int) -> int:
        """Keys with one path where each step has a size of its own beyond the sums of others."""
        drawn = self._random.integers(1, _MOST_DRAWN, size=len(self._names))
        heights = self._order.heights_bytes.copy()
        for step, size in enumerate(drawn.tolist()):
            heights += GRAIN_BYTES * size * self._steps.on_paths(step)
        keys = PathKeys(self._order, int(heights.max()))
        return max(before, keys.counts(heights).with_one_path)

    def _advances(self, takes_worse: bool) -> bool:
        """Grow a step that differs between two paths of a key; whether one is kept."""
        for place, step in enumerate(self._differing()[:_TRIES_A_PAIR], 1):
            size = GRAIN_BYTES * place
            passes = self._state.passes
            passes += 0 if self._state.sizes[step] else self._passes[step]
            is_dear = passes > max(self._rules.most_passes, self._state.passes)
            if is_dear or self._state.sizes[step] + size > self._most_bytes[step]:
                continue
            heights = self._state.heights + size * self._steps.on_paths(step)
            self._work += len(heights) + _WORK_A_TRY
            if int(heights.max()) > self._limit_bytes:
                continue
            sizes = self._state.sizes.copy()
            sizes[step] += size
            state = _State(sizes, heights, self._keys.counts(heights), passes)
            if state.score > self._state.score or takes_worse:
                self._state, self._ambiguous = state, None
                return True
        return False

    def _differing(self) -> list[int]:
        """The steps that differ between two paths of a key, all drawn."""
        if self._ambiguous is None:
            self._ambiguous = self._keys.ambiguous(self._state.heights)
        nodes, groups = self._ambiguous
        if len(nodes) == 0:
            return []
        first = int(self._random.integers(len(nodes)))
        key = int(groups[first])
        start, end = int(np.searchsorted(groups, key)), int(np.searchsorted(groups, key + 1))
        second = int(self._random.integers(start, end - 1))
        second += second >= first
        one, other = (self._steps.on_path_to(int(nodes[place])) for place in (first, second))
        found = [step for step in {**one, **other} if one.get(step, 0) != other.get(step, 0)]
        self._random.shuffle(found)
        return found


def _worth(state: _State, goal: int) -> tuple[int, int, int]:
    """Keys with one path, as far as they are wanted; then a low stack; then fewer passes."""
    return min(state.counts.with_one_path, goal), -int(state.heights.max()), -state.passes
