"""Copies of functions for a finished program, with their frame tables.

A copy does what its original does: what its code names by its distance is named anew. It is as
long, so that what stays within it stays as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO

import numpy as np

from steelyard.analysis.paths.clones import (
    Clone,
    Clones,
    MovedCode,
    calls_with_clones,
)
from steelyard.analysis.paths.wrappable_calls import ProgramCalls
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import DataError
from steelyard.profile.paths.added_code import AddedFunction
from steelyard.profile.paths.clonable_functions import ClonableFunction, CodeReference
from steelyard.profile.paths.clone_notes import original_rows
from steelyard.profile.paths.copied_frames import CopiedFrame
from steelyard.profile.paths.frame_sizes import FrameField, ProgramFrames
from steelyard.profile.paths.frame_table_copy import FrameTableCopy
from steelyard.profile.symbols.elf_symbols import read_symbols

_TRAP = b"\xcc"
_CALL = 0xE8
# ModRM of an operand by its distance (Intel SDM, volume 2, 2.2.1.6): mode 0, register 5.
_MODE, _BY_DISTANCE = 0xC7, 0x05
_DISTANCE = struct.Struct("<i")


def _symbol_names(program: str, addresses: Sequence[int]) -> dict[int, str]:
    symbols = read_symbols(program)
    indices = symbols.function_indices(np.array(addresses, np.uint64)).tolist()
    return {
        at: symbols.names[index].decode("latin-1") if index >= 0 else f"{at:x}"
        for at, index in zip(addresses, indices, strict=True)
    }


@dataclass(frozen=True)
class AddedClones:
    """Clones that are added to a program.

    Parameters
    ----------
    clones : Clones
    functions : tuple of AddedFunction
    note : bytes
        What names their originals.
    """

    clones: Clones
    functions: tuple[AddedFunction, ...]
    note: bytes


class ProgramClones:
    """The clones of a program, and where their code goes.

    Parameters
    ----------
    frames : ProgramFrames
        Of the program as it was.
    clones : Clones
    clonable : mapping of int to ClonableFunction
    place : (int, int)
        The address of the first clone, and where in the file it will be.
    """

    def __init__(
        self,
        frames: ProgramFrames,
        clones: Clones,
        clonable: Mapping[int, ClonableFunction],
        place: tuple[int, int],
    ) -> None:
        self.clones = clones
        self._frames = frames
        self._clonable = clonable
        try:
            self._elf = ElfFile(BytesIO(frames.data))
        except NotElfError:
            raise DataError("The program cannot be read as one of ELF.", field="program") from None
        section = self._elf.section(".eh_frame")
        if section is None:
            raise DataError("The program has no tables of frames (.eh_frame).", field="program")
        self._tables_at = section.offset
        self._tables = FrameTableCopy(self._elf.data(section), section.address)
        parts = {clone.address: self._moved_parts(clone) for clone in clones.clones}
        self._moved = MovedCode(parts, place[0] - place[1])

    def calls(self, calls: ProgramCalls) -> ProgramCalls:
        """The calls of the program with them."""
        return calls_with_clones(calls, self.clones, self._moved)

    def most_bytes(self) -> dict[int, int]:
        """How much the frame of each function and clone can grow."""
        most = self._frames.most_bytes()
        own = {
            clone.address: most[clone.original]
            for clone in self.clones.clones
            if clone.original in most
        }
        return {**most, **own}

    def added(self, program: str, sizes: Mapping[int, int]) -> AddedClones:
        """Their code.

        Parameters
        ----------
        program : str
            The file, which has the symbols.
        sizes : mapping of int to int
            By how much the frames of clones grow.
        """
        names = _symbol_names(program, [clone.original for clone in self.clones.clones])
        found: list[AddedFunction] = []
        for number, clone in enumerate(self.clones.clones, 1):
            name = f"{names[clone.original]}.clone.{number}"
            found += self._copies(clone, name, sizes.get(clone.address, 0))
        return AddedClones(self.clones, tuple(found), original_rows(self.clones.originals))

    def _moved_parts(self, clone: Clone) -> list[tuple[int, int, int]]:
        function = self._clonable[clone.original]
        places = (clone.address + start for start in function.starts)
        return [(*part, at) for part, at in zip(function.parts, places, strict=False)]

    def _copies(self, clone: Clone, name: str, size: int) -> list[AddedFunction]:
        function = self._clonable[clone.original]
        starts = function.starts
        found: list[AddedFunction] = []
        # The table that is copied has the frame of the original, which may have grown otherwise.
        left = list(self._frames.fields.get(clone.original, ()))
        for number, (start, end) in enumerate(function.parts):
            code = bytearray(self._bytes(start, end))
            changes, left = self._grown(left, size, start, code)
            at = clone.address + starts[number]
            for reference in function.references:
                if start <= reference.field < end:
                    self._refer(clone, code, reference, start, at)
            frame = CopiedFrame(at, len(code), start, changes)
            own_name = name if number == 0 else f"{name}.cold"
            whole = bytes(code).ljust(starts[number + 1] - starts[number], _TRAP)
            found.append(AddedFunction(own_name, whole, frame))
        if left:
            raise DataError(f"The frame of {name} is described elsewhere.", field="program")
        return found

    def _refer(
        self, clone: Clone, code: bytearray, reference: CodeReference, start: int, at: int
    ) -> None:
        """Write how far it is to what an instruction of a copy names."""
        place = reference.field - start
        target = reference.target
        is_operand = code[place - 1] & _MODE == _BY_DISTANCE
        if not is_operand and code[place - 1] == _CALL:
            target = self.clones.targets.get((clone.address, target), target)
        elif not is_operand:
            moved = self._moved.address(clone.address, target)
            target = target if moved is None else moved
        try:
            _DISTANCE.pack_into(code, place, target - (reference.end - start + at))
        except struct.error:
            raise DataError(
                "The program is too large to clone its functions.", field="program"
            ) from None

    def _grown(
        self, fields: Sequence[FrameField], size: int, start: int, code: bytearray
    ) -> tuple[tuple[tuple[int, bytes], ...], list[FrameField]]:
        """Make the frame of a copy larger: what changes in the frame table, and fields that are in
        neither."""
        code_at = self._offset(start)
        entry = self._tables.entry(start)
        changes: list[tuple[int, bytes]] = []
        left: list[FrameField] = []
        for field in fields:
            value = field.value(self._frames.data) + size
            in_table = field.offset - self._tables_at
            if code_at <= field.offset < code_at + len(code):
                replace(field, offset=field.offset - code_at).put(code, value)
            elif entry is not None and entry.begin <= in_table < entry.end:
                changes.append((in_table, _written(field, value)))
            else:
                left.append(field)
        return tuple(changes), left

    def _offset(self, address: int) -> int:
        for section in self._elf.sections:
            if section.is_in_file and section.address <= address < section.address + section.size:
                return address - section.address + section.offset
        raise DataError(f"The program has no code at {address:#x}.", field="program")

    def _bytes(self, start: int, end: int) -> bytes:
        offset = self._offset(start)
        return self._frames.data[offset : offset + end - start]


def _written(field: FrameField, value: int) -> bytes:
    raw = bytearray(field.byte_count)
    replace(field, offset=0).put(raw, value)
    return bytes(raw)
