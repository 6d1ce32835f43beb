"""Samples of a profile as arrays, and what they say: each function's share of the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.rounds_of_looks import Rounds
from steelyard.analysis.profiles.unwatched_time import widened
from steelyard.core.estimate import Estimate, Interval

Indices = npt.NDArray[np.int64]
# The method of a share of which nothing is estimated.
COUNTED = "counted"


class Frame(NamedTuple):
    """A function, and the file that it is in."""

    name: str
    object: str


class SharedCode(NamedTuple):
    """Code of several functions that are alike: the one that is shown, and the others."""

    function: str
    others: tuple[str, ...]
    samples: int = 0


@dataclass(frozen=True)
class ProfileSamples:
    """Samples with the function of each.

    Parameters
    ----------
    frames : tuple of Frame
        The functions, each once.
    functions : array of int
        For each sample the index of the function that it was in.
    times_ns : array of uint64
        By a monotonic clock, rising.
    cpus, threads, processes : arrays of unsigned int
    in_kernel : array of bool
        Whether the kernel was at work for the function.
    inlined : array of bool
        Whether the function had no code of its own, but was inlined into its caller.
    stacks, stack_lengths : arrays of int
        Functions from each sample's own up to the outermost caller, one sample after the other,
        and how many each has: 1 where no call chains were kept.
    thread_names : mapping of thread to str
    mended_count : int
        How many samples were in code of which the Java virtual machine names the wrong method, so
        that they count for the method that it names next, or that was compiled.
    apart_ns : int
        Looks at a CPU were drawn to be no nearer than this; 0: not known.
    round_ns : float
        For so long looks keep to one period, and depend on each other; 0: each time is drawn.
    every : int
        They are events, of which one of so many was taken; 0: looks at times.
    changed_files : tuple of str
        Files of these functions that have changed since.
    foreign_files : tuple of str
        Files of these functions that cannot be opened as the program had mapped them: gone,
        replaced, or to be seen from its mount namespace alone. Their functions have no names.
    undescribed_files : mapping of str to tuple of str
        Files of these functions of whose debugging information parts are not there, with these.
    shared_code : tuple of SharedCode
        Code of several functions that are alike, with the samples in it, the most first.
    """

    frames: tuple[Frame, ...]
    functions: Indices
    times_ns: npt.NDArray[np.uint64]
    cpus: npt.NDArray[np.uint16]
    threads: npt.NDArray[np.uint32]
    processes: npt.NDArray[np.uint32]
    in_kernel: npt.NDArray[np.bool_]
    inlined: npt.NDArray[np.bool_]
    stacks: Indices
    stack_lengths: Indices
    thread_names: Mapping[int, str]
    mended_count: int = 0
    apart_ns: int = 0
    round_ns: float = 0.0
    every: int = 0
    changed_files: tuple[str, ...] = ()
    foreign_files: tuple[str, ...] = ()
    undescribed_files: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    shared_code: tuple[SharedCode, ...] = ()


@dataclass(frozen=True)
class FunctionShare:
    """How much of the time was spent in one function itself.

    `kernel_ratio` is the part of its samples in which the kernel was at work for it, and
    `inlined_ratio` the part in which it was inlined into its caller; `total_share` counts the
    functions that it called too, where call chains were kept.
    """

    frame: Frame
    sample_count: int
    share: Interval
    kernel_ratio: float
    total_share: Interval | None
    inlined_ratio: float = 0.0


@dataclass(frozen=True)
class ThreadShare:
    """How much of the time was spent by one thread."""

    thread: int
    process: int
    name: str
    sample_count: int
    share: Interval


def independent_count(samples: ProfileSamples) -> float:
    """How many independent looks the samples are worth: n² / Σ m² (L. Kish, Survey Sampling, 1965).

    Looks that fall due while a CPU is stopped, by the host of a virtual machine or with interrupts
    off, are taken together when it goes on: m of them, which find the program at one place. They
    are nearer to each other than any were drawn to be.
    """
    count = len(samples.functions)
    if not count or not samples.apart_ns:
        return float(count)
    order = np.lexsort((samples.times_ns, samples.cpus))
    times_ns, cpus = samples.times_ns[order], samples.cpus[order]
    begins = np.ones(count, bool)
    # Where a CPU's times end, the next one's begin anew and the difference says nothing.
    begins[1:] = (cpus[1:] != cpus[:-1]) | (np.diff(times_ns) >= np.uint64(samples.apart_ns))
    together = np.bincount(np.cumsum(begins) - 1).astype(float)
    return count**2 / float(together @ together)


def share_estimate(
    count: int, total: int, confidence: float = 0.95, independent: float | None = None
) -> Estimate:
    """A share of samples, with the interval of Wilson, J. Am. Stat. Assoc. 22 (1927).

    Assumes that samples are looks at random times, of which `independent` (all, unless given) are
    worth an independent one each, so that their number in a function is binomial given how long
    the program was there.

    Raises
    ------
    ValueError
        There is no sample.
    """
    if total <= 0:
        raise ValueError("A share needs a sample.")
    worth = float(total) if independent is None else independent
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = count / total
    centre = (share + z * z / (2 * worth)) / (1 + z * z / worth)
    half_width = (
        z * sqrt(share * (1 - share) / worth + z * z / (4 * worth * worth)) / (1 + z * z / worth)
    )
    low, high = max(0.0, centre - half_width), min(1.0, centre + half_width)
    return Estimate(share, min(low, share), max(high, share), confidence, "wilson")


def _counted_share(count: int, total: int, confidence: float) -> Estimate:
    """A share of events of which each was taken: nothing of it is estimated."""
    share = count / total
    return Estimate(share, share, share, confidence, COUNTED)


def function_shares(
    samples: ProfileSamples, confidence: float = 0.95, unwatched_ratio: float | None = 0.0
) -> tuple[FunctionShare, ...]:
    """Every function that was met, the hottest first; `unwatched_ratio` as in `widened`."""
    total = len(samples.functions)
    if not total:
        return ()
    share_of = share_by(samples, confidence, unwatched_ratio)
    counts = np.bincount(samples.functions, minlength=len(samples.frames))
    kernel = np.bincount(samples.functions[samples.in_kernel], minlength=len(samples.frames))
    inlined = np.bincount(samples.functions[samples.inlined], minlength=len(samples.frames))
    own, inclusive = _grouped(samples.functions, len(samples.frames)), _inclusive(samples)
    order = np.lexsort((np.arange(len(counts)), -counts))
    shares: list[FunctionShare] = []
    for index in map(int, order):
        count = int(counts[index])
        within = None if inclusive is None else inclusive[index]
        if not count and not (within is not None and len(within)):
            continue
        shares.append(
            FunctionShare(
                samples.frames[index],
                count,
                share_of(own[index]),
                float(kernel[index]) / count if count else 0.0,
                None if within is None else share_of(within),
                float(inlined[index]) / count if count else 0.0,
            )
        )
    return tuple(shares)


def thread_shares(
    samples: ProfileSamples, confidence: float = 0.95, unwatched_ratio: float | None = 0.0
) -> tuple[ThreadShare, ...]:
    """Every thread that was met, the busiest first; `unwatched_ratio` as in `widened`."""
    share_of = share_by(samples, confidence, unwatched_ratio)
    threads, first, counts = np.unique(samples.threads, return_index=True, return_counts=True)
    shares = [
        ThreadShare(
            int(thread),
            int(samples.processes[at]),
            samples.thread_names.get(int(thread), ""),
            int(count),
            share_of(np.flatnonzero(samples.threads == thread)),
        )
        for thread, at, count in zip(threads, first, counts, strict=True)
    ]
    return tuple(sorted(shares, key=lambda share: (-share.sample_count, share.thread)))


def stacks_of(samples: ProfileSamples, thread: int) -> list[list[int]]:
    """The stack of each sample of one thread: indices of frames, the outermost caller first."""
    begins = np.cumsum(samples.stack_lengths) - samples.stack_lengths
    return [
        samples.stacks[begins[index] : begins[index] + samples.stack_lengths[index]][::-1].tolist()
        for index in np.flatnonzero(samples.threads == thread)
    ]


def share_by(
    samples: ProfileSamples, confidence: float, unwatched_ratio: float | None
) -> Callable[[Indices], Interval]:
    """From the indices of the samples that a share counts to that share; `unwatched_ratio` as in
    `widened`."""
    total = len(samples.functions)
    worth_of = _worth_of(samples, independent_count(samples), confidence)

    def share_of(at: Indices) -> Interval:
        if samples.every == 1:
            return widened(_counted_share(len(at), total, confidence), unwatched_ratio)
        share = share_estimate(len(at), total, confidence, worth_of(at))
        if samples.round_ns:
            share = replace(share, method=f"{share.method}-rounds")
        return widened(share, unwatched_ratio)

    return share_of


def _worth_of(
    samples: ProfileSamples, worth: float, confidence: float
) -> Callable[[Indices], float]:
    """From the indices of the samples that a share counts to what all samples are worth for it."""
    if not samples.round_ns:
        return lambda _: worth
    rounds = Rounds.of(samples.times_ns, samples.cpus, samples.round_ns, confidence)
    return lambda at: min(worth, rounds.worth(at))


def _grouped(functions: Indices, count: int, owners: Indices | None = None) -> list[Indices]:
    """For each function the samples that it is in, rising."""
    order = np.argsort(functions, kind="stable")
    ends = np.cumsum(np.bincount(functions, minlength=count))[:-1]
    return np.split(order if owners is None else owners[order], ends)


def _inclusive(samples: ProfileSamples) -> list[Indices] | None:
    """Samples with a function anywhere in their chain, each counted once however it recurs."""
    if len(samples.stacks) == len(samples.functions):
        return None
    owner = np.repeat(np.arange(len(samples.stack_lengths)), samples.stack_lengths)
    pairs = np.unique(np.stack((owner, samples.stacks)), axis=1)
    return _grouped(pairs[1], len(samples.frames), pairs[0])
