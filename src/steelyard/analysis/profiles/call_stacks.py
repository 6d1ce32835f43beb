"""The call stacks of a profile, each different one once with how often it was met."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.analysis.profiles.profile_samples import ProfileSamples


class StackCount(NamedTuple):
    """A stack of one thread: indices of frames from the outermost caller to the sample's own."""

    process: int
    thread: int
    frames: tuple[int, ...]
    sample_count: int


def stack_counts(samples: ProfileSamples) -> list[StackCount]:
    """Every different stack of every thread, those of one thread together."""
    ends = np.cumsum(samples.stack_lengths)
    counts: dict[tuple[int, int, tuple[int, ...]], int] = {}
    stacks = samples.stacks.tolist()
    begin = 0
    for end, process, thread in zip(
        ends.tolist(), samples.processes.tolist(), samples.threads.tolist(), strict=True
    ):
        key = (process, thread, tuple(reversed(stacks[begin:end])))
        counts[key] = counts.get(key, 0) + 1
        begin = end
    return [StackCount(*key, count) for key, count in sorted(counts.items())]


def merged_stacks(samples: ProfileSamples) -> list[tuple[tuple[int, ...], int]]:
    """Every different stack, over all threads."""
    merged: dict[tuple[int, ...], int] = {}
    for stack in stack_counts(samples):
        merged[stack.frames] = merged.get(stack.frames, 0) + stack.sample_count
    return sorted(merged.items())
