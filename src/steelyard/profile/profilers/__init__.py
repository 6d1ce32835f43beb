"""Profilers of native programs. One profiler is one file with an `EXTENSION` in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.core.registry import Registry


@dataclass(frozen=True)
class Profiler:
    """A profiler, as far as its claims can be checked.

    Parameters
    ----------
    name : str
    package : str
        What brings it, for a message where it is missing.
    program : str
        Its executable, which must be in the PATH.
    command : callable
        From the file of the profile and a program's argv to the argv that profiles it.
    shares : callable
        From the file of the profile to the share of each function's own time, by name, in the
        program itself: functions of other objects are under their names too.
    """

    name: str
    package: str
    program: str
    command: Callable[[str, Sequence[str]], list[str]]
    shares: Callable[[str], Mapping[str, float]]


PROFILERS: Registry[Profiler] = Registry(
    "profiler", "steelyard.profile.profilers", "steelyard.profilers"
)
