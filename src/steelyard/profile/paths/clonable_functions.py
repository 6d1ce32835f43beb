"""Functions of a finished program whose code can be copied, and what changes in the copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import DataError
from steelyard.profile.paths.frame_table_copy import FrameTableCopy
from steelyard.profile.paths.planner_output import planner_lines
from steelyard.profile.symbols.frame_rules import UnreadableRulesError

ALIGN_BYTES = 16
_TEXT = ".text"
# DW_EH_PE_omit: landing pads are counted from the function itself (LSB, 10.6.1; gcc, except.c).
_OMITTED = 0xFF
_OWN_PADS = "its table of exceptions names the place of its handlers"
_NO_TABLE = "its frame table cannot be copied"


@dataclass(frozen=True)
class CodeReference:
    """Four bytes at `field` say how far `target` is from `end`; addresses in memory."""

    field: int
    end: int
    target: int


@dataclass(frozen=True)
class ClonableFunction:
    """A function that can be copied.

    Parameters
    ----------
    parts : tuple of (int, int)
        Where its code begins and ends, that with its entry first.
    references : tuple of CodeReference
    """

    parts: tuple[tuple[int, int], ...]
    references: tuple[CodeReference, ...]

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each part begins, from the beginning of a copy on."""
        found = [0]
        for start, end in self.parts:
            found.append(found[-1] + -(-(end - start) // ALIGN_BYTES) * ALIGN_BYTES)
        return tuple(found)

    @property
    def byte_count(self) -> int:
        """What a copy takes, with the bytes that align its parts."""
        return self.starts[-1]


@dataclass(frozen=True)
class ClonableFunctions:
    """The functions of a program.

    Parameters
    ----------
    functions : mapping of int to ClonableFunction
        By address, those that can be copied.
    reasons : mapping of int to str
        Why others cannot.
    text_bytes : int
        The code of the program (`.text`).
    """

    functions: Mapping[int, ClonableFunction]
    reasons: Mapping[int, str]
    text_bytes: int

    def sizes(self) -> dict[int, int]:
        """The bytes of a copy of each."""
        return {start: one.byte_count for start, one in self.functions.items()}


def read_clonable(program: str) -> ClonableFunctions:
    """The functions of a program that can be copied.

    Raises
    ------
    UsageError
        It is no program that can be read.
    DataError
        It has no frame tables that can be copied.
    MissingCapabilityError
        The planner was not built.
    """
    functions: dict[int, ClonableFunction] = {}
    reasons: dict[int, str] = {}
    lines = planner_lines("--clones", program, "functions", "--program")
    try:
        with open(program, "rb", opener=regular_opener) as file:
            tables = _Tables(ElfFile(file))
            for line in lines:
                start, parts, references, reason = line.split("\t")
                function = ClonableFunction(_parts(parts), _references(references))
                reason = reason or tables.reason(function)
                if reason:
                    reasons[int(start, 16)] = reason
                else:
                    functions[int(start, 16)] = function
    except (OSError, NotElfError, UnreadableRulesError):
        raise DataError(
            f"The frame tables of {program} cannot be read.", field="--program"
        ) from None
    return ClonableFunctions(functions, reasons, tables.text_bytes)


def _parts(text: str) -> tuple[tuple[int, int], ...]:
    pairs = (part.split("-") for part in text.split())
    return tuple((int(start, 16), int(end, 16)) for start, end in pairs)


def _references(text: str) -> tuple[CodeReference, ...]:
    found = (one.split(":") for one in text.split())
    return tuple(CodeReference(*(int(number, 16) for number in numbers)) for numbers in found)


class _Tables:
    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        frames, text = elf.section(".eh_frame"), elf.section(_TEXT)
        if frames is None or text is None:
            raise NotElfError
        self._frames = FrameTableCopy(elf.data(frames), frames.address)
        self.text_bytes = text.size

    def reason(self, function: ClonableFunction) -> str:
        """Why the tables of a function cannot be copied; empty: they can."""
        for start, end in function.parts:
            entry = self._frames.entry(start)
            if entry is None or entry.code_bytes != end - start:
                return _NO_TABLE
            if entry.handlers and self._byte(entry.handlers) != _OMITTED:
                return _OWN_PADS
        return ""

    def _byte(self, address: int) -> int:
        for section in self._elf.sections:
            if section.is_in_file and section.address <= address < section.address + section.size:
                return self._elf.data(section)[address - section.address]
        return 0
