"""Frames of a finished program that can be made larger, and a program with larger ones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, SteelyardError
from steelyard.core.hashing import sha256_of
from steelyard.profile.paths.planner_output import planner_lines
from steelyard.profile.symbols.elf_symbols import read_symbols

# Each byte of ULEB128 has seven bits of the number, and a bit that says whether more follow.
_GROUP_BITS, _MORE = 7, 0x80
# The head of a note with a build id: sizes of name and id, type 3, name (System V ABI, GNU).
_NOTE_TYPE, _NOTE_NAME = 3, b"GNU\0"


@dataclass(frozen=True)
class FrameField:
    """A number of the file to which the growth of a frame is added.

    Parameters
    ----------
    offset, byte_count : int
    is_uleb : bool
        Of ULEB128; otherwise of two's complement, little-endian.
    """

    offset: int
    byte_count: int
    is_uleb: bool

    def value(self, data: bytes | bytearray) -> int:
        """The number, as it is in the file."""
        raw = data[self.offset : self.offset + self.byte_count]
        if not self.is_uleb:
            return int.from_bytes(raw, "little", signed=True)
        groups = (byte & ~_MORE for byte in raw)
        return sum(group << _GROUP_BITS * place for place, group in enumerate(groups))

    @property
    def limit(self) -> int:
        """The largest number that there is room for."""
        if self.is_uleb:
            return (1 << _GROUP_BITS * self.byte_count) - 1
        return (1 << (8 * self.byte_count - 1)) - 1

    def put(self, data: bytearray, value: int) -> None:
        """Write a number in its place."""
        if not self.is_uleb:
            raw = value.to_bytes(self.byte_count, "little", signed=True)
        else:
            groups = [
                value >> _GROUP_BITS * place & ~_MORE & 0xFF for place in range(self.byte_count)
            ]
            raw = bytes([*(group | _MORE for group in groups[:-1]), groups[-1]])
        data[self.offset : self.offset + self.byte_count] = raw


@dataclass(frozen=True)
class ProgramFrames:
    """The frames of a program.

    Parameters
    ----------
    data : bytes
        The program's file.
    fields : dict of int to tuple of FrameField
        By address of the function, where its frame can grow.
    reasons : dict of int to str
        Why the frames of others cannot.
    """

    data: bytes
    fields: dict[int, tuple[FrameField, ...]]
    reasons: dict[int, str]

    def most_bytes(self) -> dict[int, int]:
        """How much each frame can grow: what its numbers have room for."""
        return {
            function: min(field.limit - field.value(self.data) for field in fields)
            for function, fields in self.fields.items()
        }


def read_frames(program: str) -> ProgramFrames:
    """The frames of a program.

    Raises
    ------
    UsageError
        It is no program that can be read.
    MissingCapabilityError
        The planner was not built.
    """
    lines = planner_lines("--frames", program, "frames", "--program")
    fields: dict[int, tuple[FrameField, ...]] = {}
    reasons: dict[int, str] = {}
    for line in lines:
        address, numbers, *reason = line.split("\t")
        if reason:
            reasons[int(address, 16)] = reason[0]
        else:
            fields[int(address, 16)] = tuple(map(_field, numbers.split()))
    with open(program, "rb", opener=regular_opener) as file:
        return ProgramFrames(file.read(), fields, reasons)


def _field(text: str) -> FrameField:
    offset, byte_count, form = text.split(":")
    return FrameField(int(offset), int(byte_count), form == "u")


def with_larger_frames(frames: ProgramFrames, sizes: Mapping[int, int]) -> bytearray:
    """The file of a program with larger frames.

    Parameters
    ----------
    frames : ProgramFrames
    sizes : mapping of int to int
        By how much the frame of each function grows.

    Raises
    ------
    DataError
        A size is more than there is room for.
    """
    data = bytearray(frames.data)
    most = frames.most_bytes()
    for function, size in sizes.items():
        if size > most.get(function, 0):
            raise DataError(f"The frame of {function:#x} cannot grow by {size} bytes.", field="map")
        for field in frames.fields[function]:
            field.put(data, field.value(data) + size)
    return data


def write_program(data: bytearray, like: str, path: str) -> None:
    """Write a changed program, with a build id of its own where it has one.

    Parameters
    ----------
    data : bytearray
        Its file, in which the build id is changed.
    like : str
        The program as it was, which has the build id and the rights.
    path : str

    Raises
    ------
    SteelyardError
        The file cannot be written.
    """
    _name_build(data, read_symbols(like).build_id)
    folder = os.path.dirname(os.path.abspath(path))
    try:
        mode = os.stat(like).st_mode & 0o777
        with tempfile.NamedTemporaryFile("wb", dir=folder, delete=False) as file:
            file.write(data)
        os.chmod(file.name, mode)
        os.replace(file.name, path)
    except OSError as error:
        raise SteelyardError(
            f"The program {path} cannot be written: {error.strerror}.", field="--output"
        ) from None


def _name_build(data: bytearray, build: str) -> None:
    """Put the digest of the file in the place of its build id."""
    identifier = bytes.fromhex(build)
    words = (len(_NOTE_NAME), len(identifier), _NOTE_TYPE)
    head = b"".join(word.to_bytes(4, "little") for word in words) + _NOTE_NAME
    at = data.find(head + identifier) if identifier else -1
    if at < 0:
        return
    start = at + len(head)
    digest = sha256_of(bytes(data))[: len(identifier)]
    data[start : start + len(digest)] = digest
