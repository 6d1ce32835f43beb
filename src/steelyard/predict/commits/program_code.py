"""What a program is made of: the bodies of its functions without addresses, and its data."""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

# What compilers append to the name of a function that they took apart, copied or made local.
_COPY = re.compile(r"\.(?:part|isra|constprop|lto_priv|llvm|localalias)(?:\.\d+)*(?=\.|$)")
# The digest in names of Rust: it changes with the compiler's inputs (RFC 2603, "legacy").
_RUST = re.compile(r"17h[0-9a-f]{16}E(?=\.|$)")
_NUMBER = re.compile(r"\.\d+$")

FUNCTION, EXTERNAL, DATA, TEXT, ELSEWHERE = 0, 1, 2, 3, 4


def plain_name(name: str) -> str:
    """The name of a function without what the compiler appended; parts called cold stay apart."""
    return _RUST.sub("E", _COPY.sub("", name))


def plain_object(name: str) -> str:
    """The name of an object without the number that makes a static one unique."""
    return _RUST.sub("E", _NUMBER.sub("", name))


class NumberRows(Sequence[Sequence[int]]):
    """Rows of numbers in one flat array: many short rows take little time to read and compare.

    Parameters
    ----------
    flat : array of int
        The rows, one after the other.
    lengths : sequence of int
        Of each row.
    """

    def __init__(self, flat: array[int], lengths: Iterable[int]) -> None:
        self.flat = flat
        self.ends = list(itertools.accumulate(lengths))

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> NumberRows:
        """The same rows, which may be such ones already."""
        if isinstance(rows, NumberRows):
            return rows
        flat = array("Q", itertools.chain.from_iterable(rows))
        return cls(flat, [len(row) for row in rows])

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> array[int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[array[int]]: ...
    def __getitem__(self, index: int | slice) -> array[int] | list[array[int]]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = range(len(self.ends))[index]
        return self.flat[self.ends[row - 1] if row else 0 : self.ends[row]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberRows) and self.ends == other.ends and self.flat == other.flat

    def __hash__(self) -> int:
        return hash((len(self.ends), len(self.flat)))


@dataclass(frozen=True, repr=False)
class ProgramCode:
    """One program or library, each list with an item a function, in the order of addresses.

    Parameters
    ----------
    machine : str
    build_id : str
    stripped : bool
        Functions without a name have an empty one.
    libraries, producers : sequence of str
        Libraries it needs; what compilers wrote about themselves and their parameters.
    names : sequence of str
    digests, loop_digests : sequence of int
        Equal where the instructions do the same to operands of the same kinds; of those in loops,
        0 where there are none.
    instructions, floating, vector, branches, calls, memory : sequence of int
        Instructions, and how many are of a kind.
    sketches : sequence of sequence of int
        The share of equal values estimates how alike two bodies are.
    references : sequence of sequence of int
        Flat triples: `FUNCTION`, `EXTERNAL`, `DATA`, `TEXT` or `ELSEWHERE`, a place in
        that list (0 for the last two), an offset.
    externals, objects : sequence of str
        Functions of other files; data that is referred to, empty where no symbol names it.
    object_sizes_bytes, object_digests : sequence of int
    """

    machine: str
    build_id: str
    stripped: bool
    libraries: Sequence[str]
    producers: Sequence[str]
    names: Sequence[str]
    digests: Sequence[int]
    loop_digests: Sequence[int]
    instructions: Sequence[int]
    floating: Sequence[int]
    vector: Sequence[int]
    branches: Sequence[int]
    calls: Sequence[int]
    memory: Sequence[int]
    sketches: Sequence[Sequence[int]]
    references: Sequence[Sequence[int]]
    externals: Sequence[str]
    objects: Sequence[str]
    object_sizes_bytes: Sequence[int]
    object_digests: Sequence[int]
    source: str = field(default="", compare=False)

    def __len__(self) -> int:
        return len(self.names)

    def callees(self, function: int) -> list[int]:
        """The functions of this program that one refers to."""
        flat = self.references[function]
        return [flat[at + 1] for at in range(0, len(flat), 3) if flat[at] == FUNCTION]

    def mix(self, function: int) -> tuple[int, ...]:
        """How many instructions of each kind a function has."""
        columns = (self.floating, self.vector, self.branches, self.calls, self.memory)
        return tuple(column[function] for column in columns)

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The functions of each name."""
        found: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            if name:
                found.setdefault(name, []).append(place)
        return found
