"""What is told of a key that no run has shown, as soon as a sample has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.analysis.paths.lookup import Candidate, KeyedPaths
from steelyard.analysis.paths.stack_alignment import Key


@dataclass(frozen=True)
class PathAlert:
    """A key that was never learnt.

    Parameters
    ----------
    function : str
    height_bytes : int
    time_ns : int
        Of its first sample, by a monotonic clock.
    process, thread : int
    nearest : Candidate or None
        The most frequent path at the learnt height of this function that is nearest; None: the
        function was never learnt.
    nearest_height_bytes : int or None
    """

    function: str
    height_bytes: int
    time_ns: int
    process: int
    thread: int
    nearest: Candidate | None
    nearest_height_bytes: int | None


@dataclass(frozen=True)
class KeyedSample:
    """A sample with its key, or with why it has none."""

    key: Key | str
    time_ns: int
    process: int
    thread: int


class PathAlerts:
    """Tells of each key that is not in a map once.

    Parameters
    ----------
    keyed : KeyedPaths
    name : callable
        The name of the function at an address.
    """

    def __init__(self, keyed: KeyedPaths, name: Callable[[int], str]) -> None:
        self._keyed = keyed
        self._name = name
        self._told: set[Key] = set()

    def of(self, samples: Sequence[KeyedSample]) -> list[PathAlert]:
        """The alerts of these samples, without those that were told before."""
        found: list[PathAlert] = []
        for sample in samples:
            key = sample.key
            if isinstance(key, str) or key in self._told or self._keyed.candidates(*key):
                continue
            self._told.add(key)
            nearest = self._keyed.nearest(key.function, key.height_bytes, key.residue_bytes)
            height, path = (None, None) if nearest is None else nearest
            found.append(
                PathAlert(
                    self._name(key[0]),
                    key[1],
                    sample.time_ns,
                    sample.process,
                    sample.thread,
                    path,
                    height,
                )
            )
        return found
