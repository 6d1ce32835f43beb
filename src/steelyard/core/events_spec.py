"""What is recorded of the events inside a program, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EventsSpec:
    """Which events inside a program are recorded, in the trials of one variant.

    Parameters
    ----------
    groups : tuple of str
        Of the kernel's events: ``sched``, ``threads``, ``syscalls``, ``faults``.
    probes : tuple of (name, file, offset, semaphore)
        Places in programs or libraries; `semaphore` is 0 where a probe has none.
    log, pattern : str or None
        A file that the program writes, ``-`` for its output, and what in a line of it is the name
        of an event: a regular expression, or ``json:PATH``.
    most : int
        Events whose order is kept; all are counted.
    variant : int
        Whose trials are recorded.
    stacks : bool
        Record call paths too: what had called what when an event came.
    path_map : str or None
        The map that call paths are looked up in by registers, instead of `stacks`.
    """

    groups: tuple[str, ...] = ()
    probes: tuple[tuple[str, str, int, int], ...] = ()
    log: str | None = None
    pattern: str | None = None
    most: int = 4000
    variant: int = 1
    stacks: bool = False
    path_map: str | None = None
