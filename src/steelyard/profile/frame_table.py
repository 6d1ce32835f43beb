"""The functions that samples were in, and the ways in which they stand at one place in the code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.profile.symbols.same_names import Located, told_apart


class FrameTable:
    """The functions seen, and the ways in which they were inlined into one another, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Located, int] = {}
        self._places: dict[tuple[tuple[int, ...], bool], int] = {}
        self._stacks: list[tuple[tuple[int, ...], bool]] = []

    def number(self, frame: Frame, source: str = "") -> int:
        """The number of a function, written in a source that may have one of its own name."""
        return self._numbers.setdefault((frame, source), len(self._numbers))

    def place(self, *frames: Frame, is_part: bool = False, sources: Sequence[str] = ()) -> int:
        """The number of a place in the code: its function, and those that it was inlined into.

        `is_part`: the last one is called by its own beginning, wherever that was inlined.
        `sources`: where each was written, if that may tell it from others.
        """
        written = zip(frames, sources or ("",) * len(frames), strict=True)
        return self._place(tuple(self.number(*function) for function in written), is_part)

    def _place(self, numbers: tuple[int, ...], is_part: bool) -> int:
        place = self._places.setdefault((numbers, is_part), len(self._places))
        if place == len(self._stacks):
            self._stacks.append((numbers, is_part))
        return place

    def without_beginnings(
        self, places: npt.NDArray[np.int64], begins: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        """Chains of places in which a function that is in two parts does not seem to call itself.

        A place of which nothing is left becomes -1. `begins` marks where chains begin.
        """
        rests = np.array([is_part for _, is_part in self._stacks], bool)
        places = places.copy()
        called = np.flatnonzero(rests[places[:-1]] & ~begins[1:]) if len(places) else []
        for at in map(int, called):
            if places[at] < 0:
                continue
            function = self._stacks[places[at]][0][-1]
            numbers, is_part = self._stacks[places[at + 1]]
            if numbers[0] == function and not (is_part and len(numbers) == 1):
                places[at + 1] = self._place(numbers[1:], is_part) if len(numbers) > 1 else -1
        return places

    def within(self, frame: Frame, place: int) -> int:
        """A place where `frame` is at work for the functions of another place."""
        numbers, is_part = self._stacks[place]
        return self._place((self.number(frame), *numbers), is_part)

    def table(self) -> tuple[tuple[Frame, ...], npt.NDArray[np.int64]]:
        """All functions as they are shown, each once; and which of them each number stands for."""
        shown: dict[Frame, int] = {}
        told = told_apart(list(self._numbers))
        stand_for = [shown.setdefault(frame, len(shown)) for frame in told]
        return tuple(shown), np.array(stand_for, np.int64)

    def expanded(
        self, places: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The functions of places, the inmost of each first, and how many each has."""
        lengths = np.array([len(stack) for stack, _ in self._stacks], np.int64)[places]
        functions = [function for place in places.tolist() for function in self._stacks[place][0]]
        return np.array(functions, np.int64), lengths
