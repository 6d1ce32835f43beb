"""The stacks of samples, by the paths that their keys may mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.named_candidates import Named
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples


def with_stacks(samples: ProfileSamples, shown: Sequence[Named], program: str) -> ProfileSamples:
    """The samples, each with the functions of its path, the innermost first; what is not named
    begins with a frame that says so."""
    numbers = {frame: number for number, frame in enumerate(samples.frames)}
    objects = {frame.name: frame.object for frame in samples.frames}
    stacks_of: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    taken: dict[tuple[Candidate, ...], list[int]] = {}
    stacks: list[int] = []
    lengths = np.empty(len(shown), np.int64)
    for at, candidates in enumerate(one.stacks for one in shown):
        leaf = int(samples.functions[at])
        path: tuple[str, ...] = ()
        if candidates:
            turns = taken.setdefault(candidates, [0] * len(candidates))
            path = candidates[_next_turn(candidates, turns)].functions
        stack = stacks_of.get((leaf, path))
        if stack is None:
            names = _callers(path, samples.frames[leaf].name)
            frames = [Frame(name, objects.get(name, program)) for name in names]
            stack = [leaf, *(numbers.setdefault(frame, len(numbers)) for frame in frames)]
            stacks_of[leaf, path] = stack
        stacks += stack
        lengths[at] = len(stack)
    return replace(
        samples,
        frames=tuple(numbers),
        stacks=np.array(stacks, np.int64),
        stack_lengths=lengths,
    )


def _callers(path: tuple[str, ...], leaf: str) -> list[str]:
    """The functions of a path from the innermost on, without the sample's own."""
    names = list(reversed(path))
    return names[1:] if names[:1] == [leaf] else names


def _next_turn(candidates: Sequence[Candidate], turns: list[int]) -> int:
    """The candidate that has had least of its share so far, which has one turn more then."""
    if len(candidates) == 1:
        return 0
    total = sum(turns) + 1
    behind = [one.share * total - turn for one, turn in zip(candidates, turns, strict=True)]
    chosen = behind.index(max(behind))
    turns[chosen] += 1
    return chosen
