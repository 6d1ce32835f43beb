"""What a map says of a crash."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.static_map import AllowedPaths


@dataclass(frozen=True)
class CrashPath:
    """Where a program ended, and how it may have come there.

    Parameters
    ----------
    function : str
        The last one of the program.
    height_bytes : int or None
        None: where the stack begins is not known, and the candidates are those of all heights.
    library_frame_count : int
        Frames of libraries above it.
    signal : int or None
        None: not known.
    candidates : tuple of Candidate
        The most frequent first; none: the key was never learnt.
    allowed : AllowedPaths or None
        The paths that the program's code allows for a key that was never learnt; None: they were
        not asked for, or the key was learnt.
    """

    function: str
    height_bytes: int | None
    library_frame_count: int
    signal: int | None
    candidates: tuple[Candidate, ...]
    allowed: AllowedPaths | None = None

    @property
    def outcome(self) -> str:
        """`resolved`, `ambiguous` or `missing`."""
        return ("missing", "resolved", "ambiguous")[min(len(self.candidates), 2)]
