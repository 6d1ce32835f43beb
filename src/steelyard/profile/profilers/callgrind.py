"""Callgrind: counts the instructions of every function, in a simulated processor.

The file is described in the manual of Valgrind, "Callgrind Format Specification": lines that
set a position or a function, and lines of costs. A line ``calls=`` is followed by the cost of the
call, which is the callee's and not the function's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from steelyard.core.errors import DataError
from steelyard.profile.executable import refuse_gprof_build
from steelyard.profile.profilers import Launch, Profiler, Reading, require_program, shares_of

_NAMED = re.compile(r"(fn|cfn)=(?:\((\d+)\))?(?: ?(.*))?$")
# A function that calls itself, directly or not, comes once for each depth: ``name'2``.
_DEPTH = re.compile(r"'\d+$")
_COST = re.compile(r"[+\-*0-9]")


def _require(argv: Sequence[str]) -> None:
    require_program("callgrind", "valgrind", "valgrind")
    refuse_gprof_build("callgrind", argv)


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    options = ("--tool=callgrind", "--quiet", f"--callgrind-out-file={path.replace('%', '%%')}")
    return Launch(("valgrind", *options, *argv))


class _Parser:
    """Reads one file, line by line."""

    def __init__(self) -> None:
        self.counts: dict[str, float] = {}
        self.calls: set[tuple[str, str]] = set()
        self.is_complete = False
        self._names: dict[str, str] = {}
        self._function: str | None = None
        self._callee: str | None = None
        self._cost_at = 1
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
            if self._function is None or self._callee is None:
                raise ValueError("a call stands outside of a function")
            self.calls.add((self._function, self._callee))
            self._is_call = True
        elif line.startswith("positions:"):
            self._cost_at = len(line.split()) - 1
        elif line.startswith("totals:"):
            self.is_complete = True

    def _take_cost(self, line: str) -> None:
        words = line.split()
        if self._function is None:
            raise ValueError("a cost stands outside of a function")
        # A line may leave out costs that are 0.
        cost = int(words[self._cost_at]) if len(words) > self._cost_at else 0
        if not self._is_call:
            self.counts[self._function] = self.counts.get(self._function, 0) + cost
        self._is_call = False

    def _take_name(self, kind: str, number: str | None, text: str | None) -> None:
        name = text or ""
        if number is not None:
            name = self._names.setdefault(number, name) if name else self._names.get(number, "")
        if not name:
            raise ValueError(f"the function ({number}) has no name")
        name = _DEPTH.sub("", name)
        if kind == "fn":
            self._function = name
        else:
            self._callee = name


def _lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            first = file.readline()
            if not first.startswith(("# callgrind format", "version:", "creator: callgrind")):
                raise ValueError("it does not begin as one")
            yield from (line.rstrip("\n") for line in file)
    except OSError as error:
        raise DataError(f"The profile {path} cannot be read: {error.strerror}.") from None


def _read(path: str, _: Sequence[str]) -> Reading:
    parser = _Parser()
    try:
        for line in _lines(path):
            parser.take(line)
        if not parser.is_complete:
            raise ValueError("it has no totals at its end")
    except ValueError as error:
        raise DataError(
            f"{path} is not a profile of callgrind, or was cut off: {error}.", field="profile"
        ) from None
    return Reading(shares_of(parser.counts, path), frozenset(parser.calls))


EXTENSION = Profiler(
    name="callgrind",
    description="counts instructions in a simulated processor",
    language="native",
    require=_require,
    launch=_launch,
    read=_read,
    is_program_timed=False,
    loads_program=True,
)
