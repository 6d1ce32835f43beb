"""What measurements say of a program of the suite."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.suite.outcomes import RunOutcome


@dataclass(frozen=True)
class Shares:
    """Where a program spends its time, as shares that add up to 1.

    Parameters
    ----------
    program : float
        In the program's own file.
    libraries : float
        In shared libraries, and in code that was made while it ran.
    kernel : float
        In the kernel, for the program.
    sample_count : int
        How many samples say so.
    function_count : int
        Functions in which at least one sample was.
    """

    program: float
    libraries: float
    kernel: float
    sample_count: int
    function_count: int


@dataclass(frozen=True)
class Allocations:
    """How often the program asked its allocator for memory, and for how much in all."""

    count: int
    size_bytes: int


@dataclass(frozen=True)
class Description:
    """What is known of a program at one size on this machine.

    Everything that could not be had is None; `notes` say why.

    Parameters
    ----------
    run : RunOutcome
        Its runs: times, their variation, peak memory.
    build_s : float or None
        What building took.
    function_count : int or None
        Functions in the program's file, by its symbols.
    """

    run: RunOutcome
    build_s: float | None = None
    function_count: int | None = None
    shares: Shares | None = None
    allocations: Allocations | None = None
    notes: tuple[str, ...] = ()
