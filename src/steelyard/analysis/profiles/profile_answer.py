"""What a profile says: shares of functions and threads, and whether its samples were random."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.name_cautions import cautions_of_names
from steelyard.analysis.profiles.profile_samples import (
    FunctionShare,
    ProfileSamples,
    ThreadShare,
    function_shares,
    thread_shares,
)
from steelyard.analysis.profiles.sampling_health import SamplingHealth, sampling_health
from steelyard.analysis.profiles.unwatched_time import UNWATCHED, unwatched_ratio_of
from steelyard.core.experiment_results import Caution
from steelyard.core.sampled_events import EVERY

# Of independent intervals one lag in twenty passes its bound. A fifth of 40 lags do by chance in
# fewer than one profile of a thousand (binomial).
_SUSPECT_LAGS_RATIO = 0.2
# So few looks that went otherwise than planned move no share by as much as a point.
_SUSPECT_DELAYS_RATIO = 0.01
_TOLD_UNWATCHED_RATIO = 0.01
# What a timer interrupts a virtual machine for (docs/PERFORMANCE.md), and more than it does others.
_LOOK_NS = 12e3


@dataclass(frozen=True)
class Recorded:
    """What is known of a recording beside its samples.

    Parameters
    ----------
    path : str
    header : mapping
        How it was recorded: argv, process, period, unit, spread, ratio, seed, event, stacks.
    summary : mapping
        What the sampler says of itself; empty where it was cut off.
    look_times_ns, look_sources : arrays
        When each CPU (or thread) was looked at, also where another program ran there.
    lost_count : int
    damage : str or None
        What is wrong with the file, for a person.
    are_cpus_looked_at : bool
        Whether whole CPUs were looked at, where the summary does not say it.
    """

    path: str
    header: Mapping[str, Any]
    summary: Mapping[str, Any]
    look_times_ns: npt.NDArray[np.uint64]
    look_sources: npt.NDArray[np.unsignedinteger]
    lost_count: int = 0
    damage: str | None = None
    are_cpus_looked_at: bool = True

    @property
    def late_count(self) -> int:
        """How often the time of a look had passed before it could be armed: drawn anew."""
        return int(self.summary.get("late", 0))

    @property
    def unseen_count(self) -> int:
        """Looks for which the kernel gave no sample; some kernels give none of an idle CPU."""
        return int(self.summary.get("unseen", 0))

    @property
    def missed_count(self) -> int:
        """Looks for which the kernel gave no sample though no CPU idled.

        Idle time, with what the looks themselves take of it, times the rate of looks is what idle
        CPUs explain; more than four standard deviations of a Poisson count above it is missed.
        """
        period_ns = float(self.header.get("period", 0))
        idle_ns = float(self.summary.get("idle_ns", 0))
        # A look at an idle CPU takes time that the kernel counts as an interrupt's.
        idle_ns += _LOOK_NS * self.unseen_count
        explained = idle_ns / period_ns if period_ns else 0.0
        return max(0, math.floor(self.unseen_count - explained - 4 * math.sqrt(explained)))

    @property
    def is_of_events(self) -> bool:
        """Whether its samples are events, and not looks at times."""
        return self.header.get("spread") == EVERY

    @property
    def unwatched_ratio(self) -> float | None:
        """The part of the program's time that was not watched, or of the events that the kernel
        had to drop; None: not known."""
        if self.is_of_events:
            seen = len(self.look_times_ns) + self.lost_count
            return self.lost_count / seen if seen else 0.0
        return unwatched_ratio_of(self.summary, self.are_cpus_looked_at)

    @property
    def missed_ratio(self) -> float:
        """The part of its time that threads ran between a look that was missed and the next."""
        program_ns = self.summary.get("program_ns", 0)
        return self.summary.get("missed_ns", 0) / program_ns if program_ns else 0.0

    @property
    def source_kind(self) -> str:
        """What was looked at: ``"CPU"`` or ``"thread"``."""
        return "thread" if self.summary.get("scope") == "threads" else "CPU"


@dataclass(frozen=True)
class ProfileAnswer:
    """What a profile says. Functions come the hottest first, threads the busiest."""

    recorded: Recorded
    samples: ProfileSamples
    functions: tuple[FunctionShare, ...]
    threads: tuple[ThreadShare, ...]
    health: tuple[SamplingHealth, ...]
    cautions: tuple[Caution, ...] = field(default=())


def profile_answer(
    samples: ProfileSamples, recorded: Recorded, confidence: float = 0.95
) -> ProfileAnswer:
    """Shares with intervals, the health of the sampling, and what a reader must know."""
    health = (
        ()
        if recorded.is_of_events
        else sampling_health(recorded.look_times_ns, recorded.look_sources, recorded.source_kind)
    )
    return ProfileAnswer(
        recorded,
        samples,
        function_shares(samples, confidence, recorded.unwatched_ratio),
        thread_shares(samples, confidence, recorded.unwatched_ratio),
        health,
        (
            *_of_the_recording(recorded),
            *_of_the_times(recorded, health),
            *cautions_of_names(samples),
        ),
    )


def _of_the_recording(recorded: Recorded) -> list[Caution]:
    found: list[Caution] = []
    if recorded.damage is not None:
        found.append(Caution("cut-off", recorded.damage))
    if recorded.lost_count:
        message = f"The kernel had to drop {recorded.lost_count} records; record less often."
        if recorded.is_of_events:
            message += " With --every N one event of N is taken; the intervals are wider by it."
        found.append(Caution("lost-samples", message))
    if recorded.late_count + recorded.missed_count > _SUSPECT_DELAYS_RATIO * len(
        recorded.look_times_ns
    ):
        message = (
            f"{recorded.late_count} looks came too late to be armed and were drawn anew, and for "
            f"{recorded.missed_count} the kernel gave no sample though no CPU was idle, of "
            f"{len(recorded.look_times_ns)}: the machine was too busy to sample so often, or the "
            "kernel does not show what ran."
        )
        if recorded.missed_ratio:
            message += (
                f" {100 * recorded.missed_ratio:.1f} % of the time of the program passed "
                "before the next was armed; the intervals are wider by it."
            )
        found.append(Caution("delayed-samples", message))
    if recorded.is_of_events:
        return found
    return [*found, *_of_what_was_not_watched(recorded)]


def _of_what_was_not_watched(recorded: Recorded) -> list[Caution]:
    ratio, threads = recorded.unwatched_ratio, recorded.summary.get("unwatched_threads", 0)
    if ratio is not None:
        # What passed while the sampler was late has a caution of its own.
        ratio = max(0.0, ratio - recorded.missed_ratio)
    if ratio is not None and ratio < _TOLD_UNWATCHED_RATIO and not threads:
        return []
    if recorded.source_kind == "CPU":
        message = (
            f"{100 * (ratio or 0.0):.1f} % of the program's time may have passed on CPUs that were "
            "not watched: those that it may run on changed while it was recorded, by a cpuset or "
            "another group of processes. The intervals are wider by it. Record again, or with "
            "--threads-only, which follows the program everywhere."
        )
        return [Caution(UNWATCHED, message)]
    if ratio is None:
        message = (
            "How much of the program's time was watched is not known, so that no share has bounds."
        )
    else:
        message = (
            f"{100 * ratio:.1f} % of the program's time was not watched: threads are, from a "
            f"moment after their start, and {threads} ended before or were too many. The intervals "
            "are wider by it, as it may have passed in any function."
        )
    alone = ", without --threads-only," if recorded.header.get("threads_only") else ""
    message += f" Root{alone} can watch whole CPUs, which misses nothing."
    return [Caution(UNWATCHED, message)]


def _of_the_times(recorded: Recorded, health: tuple[SamplingHealth, ...]) -> list[Caution]:
    if recorded.is_of_events:
        every = recorded.header.get("period")
        message = (
            f"One event of {every} was taken. What the program does as regularly is taken always "
            "or never, and the intervals of the shares do not hold then."
        )
        return [] if every == 1 else [Caution("fixed-period", message)]
    if recorded.header.get("spread") == "fixed":
        message = (
            "The samples came at a fixed period. What the program does as regularly is seen "
            "always or never, and the intervals of the shares do not hold."
        )
        return [Caution("fixed-period", message)]
    if recorded.header.get("spread") == "rounds":
        return []  # which depend on each other for a round by intention
    return [
        Caution(
            "dependent-intervals",
            f"The times between looks at {item.source} depend on each other: "
            f"{100 * item.outside_ratio:.0f} % of their autocorrelations pass the bound of "
            "independent ones. The machine may have been too busy to sample in time.",
        )
        for item in health
        if item.outside_ratio > _SUSPECT_LAGS_RATIO
    ]
