"""Files of callgrind: instructions, calls and events of every function.

The file is described in the manual of Valgrind, "Callgrind Format Specification": lines that
set a position or a function, and lines of costs. A line ``calls=`` is followed by the cost of the
call, which is the callee's and not the function's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.core.decoding import decoding, regular_opener
from steelyard.core.errors import DataError

_NAMED = re.compile(r"(fn|cfn|ob|cob)=(?:\((\d+)\))?(?: ?(.*))?$")
# A function that calls itself, directly or not, comes once for each depth: ``name'2``.
_DEPTH = re.compile(r"'\d+$")
# Of the largest number of 64 bits.
_COUNT_DIGITS = 20
_COST = re.compile(r"[+\-*0-9]")
# Misses of simulated caches and mispredicted branches (the same manual, "--cache-sim").
_MISSES = re.compile(r"(?:I1|D1|IL|DL)m[rw]|Bcm|Bim")

Function = tuple[str, str]


@dataclass
class CallgrindProfile:
    """What one file counts; a function is its object's path and its name.

    Parameters
    ----------
    instructions : dict
        The first event of the file, each function's own.
    calls : dict of (caller, callee) to int
    misses : dict
        Cache misses and mispredicted branches together; empty where they were not simulated.
    at_addresses : dict of (object, address) to float
        Executions of each instruction, by its address in the object's file; empty without
        ``--dump-instr=yes``.
    """

    instructions: dict[Function, float] = field(default_factory=dict[Function, float])
    calls: dict[tuple[Function, Function], int] = field(
        default_factory=dict[tuple[Function, Function], int]
    )
    misses: dict[Function, float] = field(default_factory=dict[Function, float])
    at_addresses: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float])


def read_callgrind(path: str) -> CallgrindProfile:
    """Read a file of callgrind.

    Raises
    ------
    DataError
        It is none, or was cut off.
    """
    parser = _Parser()
    with decoding(f"{path} is not a profile of callgrind, or was cut off", "profile"):
        for line in _lines(path):
            parser.take(line)
        if not parser.is_complete:
            raise ValueError("it has no totals at its end")
    return parser.profile


class _Parser:
    """Reads one file, line by line."""

    def __init__(self) -> None:
        self.profile = CallgrindProfile()
        self.is_complete = False
        self._names: dict[tuple[bool, str], str] = {}
        self._object = ""
        self._callee_object: str | None = None
        self._function: Function | None = None
        self._callee: Function | None = None
        self._cost_at = 1
        self._has_addresses = False
        self._address = 0
        self._miss_columns: tuple[int, ...] = ()
        self._is_call = False

    def take(self, line: str) -> None:
        """One line.

        Raises
        ------
        ValueError
            It is not one of a profile.
        """
        if _COST.match(line):
            self._take_cost(line)
        elif found := _NAMED.match(line):
            self._take_name(found[1], found[2], found[3])
        elif line.startswith("calls="):
            self._take_call(line)
        elif line.startswith("positions:"):
            self._cost_at = len(line.split()) - 1
            self._has_addresses = line.split()[1:2] == ["instr"]
        elif line.startswith("events:"):
            names = line.split()[1:]
            self._miss_columns = tuple(
                at for at, name in enumerate(names) if _MISSES.fullmatch(name)
            )
        elif line.startswith("totals:"):
            self.is_complete = True

    def _take_call(self, line: str) -> None:
        if self._function is None or self._callee is None:
            raise ValueError("a call stands outside of a function")
        count = _count(line.removeprefix("calls=").partition(" ")[0])
        call = (self._function, self._callee)
        self.profile.calls[call] = self.profile.calls.get(call, 0) + count
        self._is_call = True

    def _take_cost(self, line: str) -> None:
        if self._function is None:
            raise ValueError("a cost stands outside of a function")
        # A line may leave out costs that are 0.
        words = line.split()
        costs = words[self._cost_at :]
        cost = _count(costs[0]) if costs else 0
        if self._has_addresses:
            self._address = _address(words[0], self._address)
        if not self._is_call:
            if self._has_addresses:
                place = self._object, self._address
                counts = self.profile.at_addresses
                counts[place] = counts.get(place, 0) + cost
            _add(self.profile.instructions, self._function, cost)
            if self._miss_columns:
                misses = sum(_count(costs[at]) for at in self._miss_columns if at < len(costs))
                _add(self.profile.misses, self._function, misses)
        self._is_call = False

    def _take_name(self, kind: str, number: str | None, text: str | None) -> None:
        name = text or ""
        is_function = kind in ("fn", "cfn")
        if number is not None:
            key = (is_function, number)
            name = self._names.setdefault(key, name) if name else self._names.get(key, "")
        if not name:
            what = "function" if is_function else "object"
            raise ValueError(f"the {what} ({number}) has no name")
        if kind == "ob":
            self._object = name
        elif kind == "cob":
            self._callee_object = name
        elif kind == "fn":
            self._function = (self._object, _DEPTH.sub("", name))
        else:
            callee_object = self._object if self._callee_object is None else self._callee_object
            self._callee = (callee_object, _DEPTH.sub("", name))
            self._callee_object = None


def _count(text: str) -> int:
    """A number of events, which is never below 0 and fits into 64 bits."""
    if not (text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS):
        raise ValueError(f"{text[:40]!r} is no count")
    return int(text)


def _address(text: str, before: int) -> int:
    """An address, which may be told by its distance from the one before ("Subposition")."""
    number = text[1:] or "0" if text[0] in "+-*" else text
    if not number.isalnum():
        raise ValueError(f"{text[:40]!r} is no address")
    steps = int(number, 16 if number.startswith("0x") else 10)
    found = before - steps if text[0] == "-" else steps if text[0] not in "+*" else before + steps
    if not 0 <= found < 1 << 64:
        raise ValueError(f"{text[:40]!r} is no address")
    return found


def _add(counts: dict[Function, float], function: Function, count: float) -> None:
    counts[function] = counts.get(function, 0) + count


def _lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=regular_opener) as file:
            first = file.readline()
            if not first.startswith(("# callgrind format", "version:", "creator: callgrind")):
                raise ValueError("it does not begin as one")
            yield from (line.rstrip("\n") for line in file)
    except OSError as error:
        raise DataError(f"The profile {path} cannot be read: {error.strerror}.") from None
