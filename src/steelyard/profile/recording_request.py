"""What is recorded of a program by the sampler, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from steelyard.core.sampled_events import SampledEvent

Spread = Literal["uniform", "exponential", "rounds", "fixed"]
Stacks = Literal["none", "frame-pointers", "dwarf"]
# Looks of a round; of copies of stacks those for which the ring has room, and not longer than the
# time between flushes of the file.
_ROUND_SAMPLES, _ROUND_COPIES, _LONGEST_ROUND_NS = 64, 6, 200e6


@dataclass(frozen=True)
class Recording:
    """What is recorded, and how.

    Parameters
    ----------
    output : str
        The file of the profile.
    argv : tuple of str
        The program that is started, or empty.
    process : int or None
        The process that is watched, where none is started.
    period_ns : float
        Mean time between samples; for the event ``cycles`` their number.
    spread : str
        ``"uniform"``: period times 1 ± `ratio`; ``"exponential"``; ``"rounds"``: a period that is
        drawn anew after some looks, and kept by the kernel between; ``"fixed"``.
    seed : int
        Of the intervals, 64 bits.
    event : str
        ``"cpu-clock"`` or ``"cycles"``.
    stacks : str
        Call chains that are kept: ``"none"``; ``"frame-pointers"``, as the kernel finds them;
        ``"dwarf"``, by what compilers write for exceptions and debuggers.
    threads_only : bool
        Watch threads even where whole CPUs may be watched.
    duration_s : float or None
        Stop after it; None: with the program.
    rotate_bytes, keep_files : int
        Go on in another file after so many bytes (0: never), and keep so many (0: all).
    word_below_frame_bytes : int
        With each sample keep the word so far below the frame pointer (0: none).
    environment : mapping
        What is added to that of the program.
    stack_notes : str
        Where the program notes the stacks of its threads; empty: it does not.
    program : str
        Walk stacks to the first frame of this file alone; empty: to their end.
    path_map : mapping
        The map of call paths that samples are looked up in: its path, program and build; empty:
        none.
    marks : str
        Where a program with marked calls puts the samples that it takes of itself; empty: it is
        sampled.
    spares : bool
        Walk no stack at a key of the program of `path_map` that is believed, where the kernel can
        tell those before it copies a stack.
    walk_keys : str
        The file of the keys of that program whose stacks are walked, as far as tells their path;
        empty: it is not asked for.
    counted : tuple of SampledEvent
        Events that are taken one by one, in the place of looks at times; empty: looks are.
    every : int
        Of those one of so many is taken.
    """

    output: str
    argv: tuple[str, ...] = ()
    process: int | None = None
    period_ns: float = 1e6
    spread: Spread = "uniform"
    ratio: float = 1.0
    seed: int = 0
    event: Literal["cpu-clock", "cycles"] = "cpu-clock"
    stacks: Stacks = "none"
    threads_only: bool = False
    duration_s: float | None = None
    rotate_bytes: int = 0
    keep_files: int = 0
    word_below_frame_bytes: int = 0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    stack_notes: str = ""
    program: str = ""
    path_map: Mapping[str, str] = field(default_factory=dict[str, str])
    marks: str = ""
    spares: bool = False
    walk_keys: str = ""
    counted: tuple[SampledEvent, ...] = ()
    every: int = 1


def round_samples_of(recording: Recording) -> int:
    """For how many looks a period stays: 1 but for the spread ``"rounds"``."""
    if recording.spread != "rounds":
        return 1
    most = _ROUND_COPIES if recording.stacks == "dwarf" else _ROUND_SAMPLES
    return max(1, min(most, int(_LONGEST_ROUND_NS / recording.period_ns)))
