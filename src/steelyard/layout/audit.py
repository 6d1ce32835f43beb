"""Which functions of a program move and get padded frames, and why others do not."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.core.elf_file import ElfFile, from_elf
from steelyard.core.errors import DataError
from steelyard.layout.layout_request import PARTS

_AUDIT = ".steelyard.audit"
_UNPADDED = ".steelyard.unpadded"


@dataclass(frozen=True)
class AuditedFunction:
    """A function of the program: where the linker put it, and why it stays there, if it does.

    `size_bytes`: where its symbol has no size, the bytes up to the next symbol.
    `calls_without_pad`: it calls others, and its frame has no random pad. `block_count`: into how
    many basic blocks it can be taken apart; 0: it is copied whole, and `whole` says why, where it
    has more than one. `unused_pad`: why the pad that it was compiled with is not used.
    """

    name: str
    address: int
    size_bytes: int
    exempted: str | None
    calls_without_pad: bool = False
    block_count: int = 0
    whole: str | None = None
    unused_pad: str | None = None

    @property
    def moves(self) -> bool:
        """Whether it is laid anew at every interval."""
        return self.exempted is None


@dataclass(frozen=True)
class SampledCode:
    """How many samples of a run lie in code that moves, that stays, and elsewhere.

    Parameters
    ----------
    moving_count : int
        In copies, or in functions that move.
    staying : tuple of (name, count)
        In the program's functions that stay, the most first.
    runtime_count : int
        In what moves the others.
    elsewhere : tuple of (path, count)
        In shared libraries that stay where they were loaded and in the kernel, the most first.
    """

    moving_count: int
    staying: tuple[tuple[str, int], ...]
    runtime_count: int
    elsewhere: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, counts: Counter[tuple[str, str]]) -> SampledCode:
        """From counts by kind (``moves``, ``stays``, ``runtime``, ``elsewhere``) and name."""

        def named(kind: str) -> tuple[tuple[str, int], ...]:
            found = [(name, count) for (each, name), count in counts.items() if each == kind]
            return tuple(sorted(found, key=lambda item: (-item[1], item[0])))

        return cls(counts["moves", ""], named("stays"), counts["runtime", ""], named("elsewhere"))

    @property
    def staying_count(self) -> int:
        """In the program's own functions that stay."""
        return sum(count for _, count in self.staying)

    @property
    def elsewhere_count(self) -> int:
        """Outside of the program."""
        return sum(count for _, count in self.elsewhere)

    @property
    def count(self) -> int:
        """All samples."""
        inside = self.moving_count + self.staying_count + self.runtime_count
        return inside + self.elsewhere_count


@dataclass(frozen=True)
class LayoutAudit:
    """What of a program is randomised.

    Parameters
    ----------
    path : str
        The program.
    parts : tuple of str
        What it randomises where the environment says nothing.
    interval_ns : int
        How often; 0: once, at the start.
    functions : tuple of AuditedFunction
        All functions with a symbol, by address; the runtime's own are not among them.
    padded_count : int
        Frames with a random pad. Functions that call no other have none.
    unpadded : tuple of (name, reason)
        Functions that move, call others and have no pad, where the program is to randomise stacks.
    unnamed : tuple of (section, bytes)
        Code that no symbol names, such as the linker's stubs: it stays where it is.
    own_malloc : bool
        The program has a malloc of its own, so that its heap is never shuffled.
    runtime : tuple of (start, end)
        Addresses of the runtime's own code.
    """

    path: str
    parts: tuple[str, ...]
    interval_ns: int
    functions: tuple[AuditedFunction, ...]
    padded_count: int
    unpadded: tuple[tuple[str, str], ...]
    unnamed: tuple[tuple[str, int], ...] = ()
    own_malloc: bool = False
    runtime: tuple[tuple[int, int], ...] = ()

    @property
    def exempted(self) -> tuple[AuditedFunction, ...]:
        """The functions that stay where they are."""
        return tuple(function for function in self.functions if not function.moves)

    @property
    def whole(self) -> tuple[AuditedFunction, ...]:
        """The functions that move and cannot be taken apart into basic blocks."""
        return tuple(function for function in self.functions if function.moves and function.whole)

    @property
    def block_count(self) -> int:
        """How many basic blocks can be laid apart."""
        return sum(function.block_count for function in self.functions)

    @property
    def code_bytes(self) -> int:
        """All code but the runtime's own and what fills the room between functions."""
        named_bytes = sum(function.size_bytes for function in self.functions)
        return named_bytes + sum(count for _, count in self.unnamed)

    @property
    def moving_bytes(self) -> int:
        """The code of the functions that move."""
        return sum(function.size_bytes for function in self.functions if function.moves)

    @property
    def moving_ratio(self) -> float:
        """The share of the program's bytes of code that moves; 0 where there are none."""
        return self.moving_bytes / self.code_bytes if self.code_bytes else 0.0


def is_moving_build(path: str) -> bool:
    """Whether a program was linked to move while it runs."""
    return _AUDIT in _sections(path)


def audit_program(path: str) -> LayoutAudit:
    """Read what the relinker and the assembler wrote into the program at `path`.

    Raises
    ------
    DataError
        It is no program, or was not linked by ``steelyard cc`` or ``steelyard c++``.
    """
    sections = _sections(path)
    if _AUDIT not in sections:
        raise DataError(
            f"{path} was not linked by `steelyard cc` or `steelyard c++`, so nothing in it moves."
        )
    try:
        told = json.loads(sections[_AUDIT])
        functions = tuple(AuditedFunction(*function) for function in told["functions"])
        reasons = dict(_pairs(sections.get(_UNPADDED, b"")))
        runtime = tuple((start, end) for start, end in told.get("runtime", ()))
        unnamed = tuple((section, count) for section, count in told.get("unnamed", ()))
    except (ValueError, TypeError, LookupError):
        raise DataError(f"{path} is damaged: what the relinker wrote into it is.") from None
    others = "it was not compiled by `steelyard cc` or `steelyard c++` with stack pads"
    parts = tuple(part for part, bit in PARTS.items() if told["parts"] & bit)
    return LayoutAudit(
        path=path,
        parts=parts,
        interval_ns=told["interval_ns"],
        functions=functions,
        padded_count=told["padded"],
        unpadded=tuple(
            (function.name, function.unused_pad or reasons.get(function.name, others))
            for function in functions
            if function.calls_without_pad and "stack" in parts
        ),
        unnamed=unnamed,
        runtime=runtime,
        own_malloc=told.get("own_malloc", False),
    )


def _pairs(data: bytes) -> Iterator[tuple[str, str]]:
    words = data.decode("utf-8", "replace").split("\0")[:-1]
    yield from zip(words[::2], words[1::2], strict=True)


def _sections(path: str) -> dict[str, bytes]:
    if not os.path.isfile(path):
        raise DataError(f"{path} is not a program: there is no such file.")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} cannot be read: {os.strerror(errno.EACCES)}.")
    found = from_elf(path, _wanted_sections, None)
    if found is None:
        raise DataError(f"{path} is not a program: it is no ELF file, or a damaged one.")
    return found


def _wanted_sections(elf: ElfFile) -> dict[str, bytes] | None:
    found = ((name, elf.section(name)) for name in (_AUDIT, _UNPADDED))
    return {name: elf.data(section) for name, section in found if section is not None}
