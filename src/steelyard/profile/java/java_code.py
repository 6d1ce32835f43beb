"""Which Java method a piece of machine code belonged to at a time, by the agent's code map.

The map is described in native/jvm/src/code_map.hpp. Code is compiled, thrown away and compiled anew
while a program runs, at addresses that are used again, and holds methods that were inlined into one
another; interpreted methods have no code of their own, but their frames hold a word that says which
method it is.
"""

from __future__ import annotations

import bisect
import glob
import os
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.profile.java.java_places import callers, told_wrongly

MAGIC = "STEELYARD-JAVA-CODE 2"
INTERPRETER = "Interpreter"
_ENDLESS = 2**63
_LAST_ADDRESS = 2**64 - 1
_NUMBER = re.compile("[0-9a-fA-F]{1,16}")
_NO_NAME = "?"


@dataclass
class _Code:
    """Machine code at `start` from `load_ns` on: of a method where `places` are given. The
    virtual machine tells wrongly what is at `wrong_places`.
    """

    load_ns: int
    start: int
    end: int
    names: tuple[str, ...]
    is_method: bool
    unload_ns: int = _ENDLESS
    places: list[int] = field(default_factory=list[int])
    inlined: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    wrong_places: list[int] = field(default_factory=list[int])

    def is_mended_at(self, address: int) -> bool:
        """Whether an instruction is named by the next place, since its own one is wrong."""
        offset = address - self.start
        at = bisect.bisect_right(self.wrong_places, offset)
        if at == len(self.wrong_places):
            return False
        right = bisect.bisect_right(self.places, offset)
        return right == len(self.places) or self.wrong_places[at] < self.places[right]

    def names_at(self, address: int) -> tuple[str, ...]:
        """The method that an instruction is of, and those that it was inlined into."""
        # A place is where what it describes ends: an instruction at the very place is of the next
        # one (forte.cpp of HotSpot, is_decipherable_compiled_frame, which looks for pc + 1).
        at = bisect.bisect_right(self.places, address - self.start)
        return self.inlined[at] if at < len(self.places) else self.names


@dataclass
class JavaCode:
    """The code map of one process.

    Parameters
    ----------
    codes : list
        All code that there ever was, in the order in which it was told of.
    methods : mapping of int to list of (time_ns, name)
        By the word that interpreted frames hold.
    names : frozenset of str
        All methods that were told of.
    begin_ns : int
        When the virtual machine had begun; 0 where that was before.
    """

    codes: list[_Code]
    methods: dict[int, list[tuple[int, str]]]
    names: frozenset[str] = frozenset()
    begin_ns: int = 0

    def __post_init__(self) -> None:
        bounds = sorted({edge for code in self.codes for edge in (code.start, code.end)})
        self._bounds = np.array(bounds, np.uint64)
        self._within: list[list[_Code]] = [[] for _ in bounds]
        for code in self.codes:
            first = bisect.bisect_left(bounds, code.start)
            last = bisect.bisect_left(bounds, code.end)
            for segment in range(first, last):
                self._within[segment].append(code)

    def stacks_at(
        self,
        addresses: npt.NDArray[np.uint64],
        times_ns: npt.NDArray[np.uint64],
        words: npt.NDArray[np.uint64],
    ) -> list[tuple[str, ...]]:
        """For each address the method that it was in, and those that it was inlined into.

        An empty tuple where no code was told of. `words` are those of the frames, 0 where they are
        not known: an interpreted method is ``[interpreted]`` then.
        """
        found: list[tuple[str, ...]] = []
        for code, address, time_ns, word in zip(
            self._codes_at(addresses, times_ns),
            addresses.tolist(),
            times_ns.tolist(),
            words.tolist(),
            strict=True,
        ):
            if code is None:
                found.append(())
            elif code.is_method:
                found.append(code.names_at(address))
            elif code.names == (INTERPRETER,):
                found.append((self._interpreted(word, time_ns),))
            else:
                found.append((f"[{code.names[0]}]",))
        return found

    def mended_count(
        self, addresses: npt.NDArray[np.uint64], times_ns: npt.NDArray[np.uint64]
    ) -> int:
        """How many of the addresses are named by the next place, since their own one is wrong."""
        found = self._codes_at(addresses, times_ns)
        return sum(
            code is not None and code.is_mended_at(address)
            for code, address in zip(found, addresses.tolist(), strict=True)
        )

    def _codes_at(
        self, addresses: npt.NDArray[np.uint64], times_ns: npt.NDArray[np.uint64]
    ) -> list[_Code | None]:
        segments = np.searchsorted(self._bounds, addresses, side="right").astype(np.int64) - 1
        return [
            _code_at(self._within[segment], time_ns) if segment >= 0 else None
            for segment, time_ns in zip(segments.tolist(), times_ns.tolist(), strict=True)
        ]

    def _interpreted(self, word: int, time_ns: int) -> str:
        known = self.methods.get(word) if word else None
        if known is None:
            return "[interpreted]"
        at = bisect.bisect_right(known, (time_ns, "\U0010ffff"))
        return known[max(at - 1, 0)][1]


def _code_at(codes: Sequence[_Code], time_ns: int) -> _Code | None:
    """The code that was there at a time. Since code is told of a little after it was made, what was
    told of next counts where nothing else was there.
    """
    for code in reversed(codes):
        if code.load_ns <= time_ns < code.unload_ns:
            return code
    return next((code for code in codes if code.load_ns > time_ns), None)


def java_code_paths(profile: str) -> dict[int, str]:
    """The code maps beside a profile, by process."""
    begin = java_code_prefix(profile) + "-"
    found = {path[len(begin) :]: path for path in glob.glob(glob.escape(begin) + "*")}
    return {
        int(process): path
        for process, path in found.items()
        if process.isascii() and process.isdigit()
    }


def read_java_codes(profile: str, processes: Container[int] | None = None) -> dict[int, JavaCode]:
    """The code maps beside a profile, read: those of these processes, or all.

    Raises
    ------
    DataError
        One of them is damaged.
    """
    return {
        process: read_java_code(path)
        for process, path in java_code_paths(profile).items()
        if processes is None or process in processes
    }


def java_code_prefix(profile: str) -> str:
    """What the names of a profile's code maps begin with; the process follows behind a dash."""
    return os.path.abspath(profile) + ".java"


def read_java_code(path: str) -> JavaCode:
    """Read a code map, up to where it was cut off.

    Raises
    ------
    DataError
        The file cannot be read, or is no code map.
    """
    try:
        with open(path, encoding="utf-8", errors="replace", opener=regular_opener) as file:
            head = file.readline().rstrip("\n")
            lines = file.read().split("\n")
    except OSError as error:
        raise DataError(f"The code map {path} cannot be read: {error.strerror}.") from None
    if head != MAGIC:
        raise DataError(f"{path} is not a code map of Java: it does not begin with {MAGIC!r}.")
    # What stands behind the last line's end was cut off in the middle.
    lines.pop()
    reader = _Reader()
    for number, line in enumerate(lines, 2):
        try:
            reader.take(line.split("\t"))
        except (ValueError, IndexError):
            raise DataError(f"The code map {path} is damaged in line {number}.") from None
    reader.end()
    return JavaCode(reader.codes, reader.methods, frozenset(reader.names), reader.begin_ns)


class _Reader:
    """Takes the lines of a map, one after the other."""

    def __init__(self) -> None:
        self.codes: list[_Code] = []
        self.methods: dict[int, list[tuple[int, str]]] = {}
        self.begin_ns = 0
        self._names: dict[int, str] = {}
        self._living: dict[int, _Code] = {}
        self._stacks: dict[str, tuple[str, ...]] = {}
        self._told: list[tuple[_Code, list[str]]] = []
        self._calls: set[str] = set()

    def take(self, words: list[str]) -> None:
        kind, time_ns = words[0], _number(words[1])
        if kind == "M":
            self._names[_number(words[2])] = words[4]
            word = _number(words[3])
            if word:
                self.methods.setdefault(word, []).append((time_ns, words[4]))
        elif kind == "U":
            gone = self._living.pop(_number(words[2]), None)
            if gone is not None:
                gone.unload_ns = time_ns
        elif kind == "B":
            self.begin_ns = time_ns
        elif kind == "D":
            self._add(time_ns, words, (words[4],), is_method=False)
        elif kind == "L":
            code = self._add(time_ns, words, self._stack(words[4]), is_method=True)
            places = [place.partition(":") for place in words[5:]]
            code.places = [_number(offset) for offset, _, _ in places]
            frames = [frames for _, _, frames in places]
            code.inlined = [self._stack(each) for each in frames]
            self._told.append((code, frames))
            self._calls |= callers(frames)
        else:
            raise ValueError(kind)

    def end(self) -> None:
        """Drops what was told wrongly, which takes the calls of all code to know."""
        for code, frames in self._told:
            wrong = told_wrongly(frames, self._calls)
            if wrong is None:
                continue
            rows = list(zip(frames, code.places, code.inlined, strict=True))
            code.wrong_places = [place for told, place, _ in rows if told == wrong]
            code.places = [place for told, place, _ in rows if told != wrong]
            code.inlined = [names for told, _, names in rows if told != wrong]

    @property
    def names(self) -> list[str]:
        return list(self._names.values())

    def _add(
        self, time_ns: int, words: list[str], names: tuple[str, ...], is_method: bool
    ) -> _Code:
        start, size = _number(words[2]), _number(words[3])
        if start + size > _LAST_ADDRESS:
            raise ValueError("code goes on behind the last address")
        code = _Code(time_ns, start, start + size, names, is_method)
        before = self._living.get(start)
        if before is not None:
            before.unload_ns = time_ns
        self._living[start] = code
        self.codes.append(code)
        return code

    def _stack(self, frames: str) -> tuple[str, ...]:
        stack = self._stacks.get(frames)
        if stack is None:
            numbers = (_number(frame.partition("@")[0]) for frame in frames.split(",") if frame)
            stack = tuple(self._names.get(number, _NO_NAME) for number in numbers)
            self._stacks[frames] = stack
        return stack


def _number(word: str) -> int:
    """A number of 64 bits, as the agent writes it.

    Raises
    ------
    ValueError
        It is none.
    """
    if _NUMBER.fullmatch(word) is None:
        raise ValueError(f"{word!r} is no number")
    return int(word, 16)
