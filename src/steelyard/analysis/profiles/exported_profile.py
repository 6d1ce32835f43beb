"""A profile for formats that know shares and no intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import (
    Frame,
    ProfileSamples,
    function_shares,
    thread_shares,
)
from steelyard.analysis.profiles.unwatched_time import NOT_WATCHED

# A program that was hardly watched, or a profile that says so, would have had any number of them.
_MOST_ADDED = 1_000_000


def exported(answer: ProfileAnswer) -> ProfileAnswer:
    """An answer in which time that was not watched is a function, in a thread of its own."""
    ratio = answer.recorded.unwatched_ratio
    if not ratio:
        return answer
    samples = with_unwatched(answer.samples, ratio)
    return replace(
        answer,
        samples=samples,
        functions=function_shares(samples),
        threads=thread_shares(samples),
    )


def with_unwatched(samples: ProfileSamples, unwatched_ratio: float) -> ProfileSamples:
    """Samples with as many more, in a function and a thread of their own, as the time that was not
    watched would have had, up to a million: for formats that know shares and no intervals.
    """
    count = len(samples.functions)
    if not 0 < unwatched_ratio < 1:
        return samples
    more = min(round(count * unwatched_ratio / (1 - unwatched_ratio)), _MOST_ADDED)
    number = len(samples.frames)

    def extended(values: npt.NDArray[Any], value: object) -> npt.NDArray[Any]:
        return np.concatenate((values, np.full(more, value, values.dtype)))

    return replace(
        samples,
        frames=(*samples.frames, Frame(NOT_WATCHED, NOT_WATCHED)),
        functions=extended(samples.functions, number),
        times_ns=extended(samples.times_ns, samples.times_ns[-1]),
        cpus=extended(samples.cpus, 0),
        threads=extended(samples.threads, 0),
        processes=extended(samples.processes, 0),
        in_kernel=extended(samples.in_kernel, False),
        inlined=extended(samples.inlined, False),
        stacks=extended(samples.stacks, number),
        stack_lengths=extended(samples.stack_lengths, 1),
        thread_names={**samples.thread_names, 0: NOT_WATCHED},
    )
