"""How a trial's program is looked at by a profiler, and what a study of profilers asks, as frozen
values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProfileQuestion = Literal["agreement", "causality", "speedup"]


@dataclass(frozen=True)
class DelaySpec:
    """A function that takes longer.

    Parameters
    ----------
    function : str
    turns : int
        Of the delay's loop, at each call; 0 leaves the loop in and lets it do nothing.
    buffer_bytes : int
        What a turn walks through, for a delay that waits for memory; 0: it only computes.
    """

    function: str
    turns: int
    buffer_bytes: int = 0


@dataclass(frozen=True)
class ProfiledSpec:
    """What a trial's program is wrapped in.

    Parameters
    ----------
    profiler : str
        The one that it runs under, or for which it is timed; empty where it is timed for all.
    alone : bool
        The program runs without the profiler, so that its time is its own.
    delay : DelaySpec or None
    """

    profiler: str = ""
    alone: bool = False
    delay: DelaySpec | None = None


@dataclass(frozen=True)
class ProfileStudySpec:
    """What trials of profiled programs are to answer.

    Parameters
    ----------
    question : str
        Whether profilers agree, whether what they say of delayed functions holds, or whether a
        faster function brings what they promise.
    functions : tuple of str
        Those that are delayed, or the one that was made faster.
    controls : tuple of str
        Those that are watched and never delayed.
    factor : float or None
        How many times as fast the function became, where the mended build is not profiled.
    name, setting : str
        How program and build are called.
    argv : tuple of str
        The program's command, of which profilers may run other builds.
    """

    question: ProfileQuestion
    functions: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    factor: float | None = None
    name: str = ""
    setting: str = ""
    argv: tuple[str, ...] = ()
