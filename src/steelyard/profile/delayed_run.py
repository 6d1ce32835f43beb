"""A run of a program in which one function takes longer: what is delayed, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DelayedRun:
    """One run with a delay.

    Parameters
    ----------
    function : str
        The function, or the method, that takes longer.
    turns : int
        Of the loop at its entry, for each call.
    profile, times : str
        The files that the profiler writes, and the one that takes the program's processor time.
    seed : int
        Of what the profiler draws.
    """

    function: str
    turns: int
    profile: str
    times: str
    seed: int = 0
