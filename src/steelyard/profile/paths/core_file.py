"""What a core file of Linux on x86-64 says of a crash: registers, files, and memory."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, ElfSegment, NotElfError
from steelyard.core.errors import DataError

_LOAD, _NOTE, _X86_64_CORE = 1, 4, (4, 62)
_STATUS, _AUXILIARY, _FILES = 1, 6, 0x46494C45
_ENTRY = 9
_MOST_NOTE_BYTES = 256 << 20
# elf_prstatus of <sys/procfs.h>: the signal, the thread, and user_regs_struct.
_SIGNAL_AT, _THREAD_AT, _REGISTERS_AT, _REGISTER_COUNT = 12, 32, 112, 27
# Places in user_regs_struct of the registers that DWARF numbers 0 to 15, and of `rip`.
_DWARF_ORDER = (10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16)
_MOST_WORDS = 1 << 18


@dataclass(frozen=True)
class CoreThread:
    """A thread as the program ended.

    Parameters
    ----------
    thread, signal : int
    registers : dict of int to int
        By the numbers of DWARF; 16 is the address of the instruction.
    """

    thread: int
    signal: int
    registers: dict[int, int]


@dataclass(frozen=True)
class MappedPart:
    """A part of a file in memory: addresses, and the offset in the file that it begins at."""

    begin: int
    end: int
    offset: int
    path: str


class CoreFile:
    """A core file; threads begin with the one that ended the program.

    Raises
    ------
    DataError
        It cannot be read, is none, or is cut short before its notes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.threads: list[CoreThread] = []
        self.files: list[MappedPart] = []
        self._auxiliary = b""
        try:
            self._file: BinaryIO = open(path, "rb", opener=regular_opener)  # noqa: SIM115
        except OSError as error:
            raise DataError(
                f"The core file {path} cannot be read: {error.strerror}.", field="--core"
            ) from None
        self._size = self._file.seek(0, os.SEEK_END)
        self._read_head()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def entry(self) -> int | None:
        """Where the program's first instruction lay; None where the notes do not say."""
        words = struct.unpack(f"<{len(self._auxiliary) // 8}Q", self._auxiliary)
        return dict(zip(words[::2], words[1::2], strict=False)).get(_ENTRY)

    def memory(self, address: int, size: int) -> bytes | None:
        """Bytes of the memory; None where the file has not all of them."""
        for part in self._memory:
            within = address - part.address
            if within >= 0 and within + size <= part.file_bytes:
                # Behind its end the file has nothing, and there are offsets that no file has.
                if part.offset + within + size > self._size:
                    return None
                self._file.seek(part.offset + within)
                data = self._file.read(size)
                return data if len(data) == size else None
        return None

    def word(self, address: int) -> int | None:
        """Eight bytes of the memory as a number."""
        data = self.memory(address, 8)
        return None if data is None else int.from_bytes(data, "little")

    def stack_start(self) -> int | None:
        """Where the first thread's stack begins: at the number of the program's arguments.

        The kernel puts that number, the arguments, a zero, the environment, a zero and the
        auxiliary vector one after the other (System V ABI, AMD64 supplement, 3.4.1).
        """
        found = self._auxiliary_at()
        if found is None or self.word(found - 8) != 0:
            return None
        at = found - 16
        for _ in range(_MOST_WORDS):
            word = self.word(at)
            if not word:
                break
            at -= 8
        if self.word(at) != 0:
            return None
        for count in range(_MOST_WORDS):
            at -= 8
            word = self.word(at)
            if word is None or word == count:
                return None if word is None else at
        return None

    def _auxiliary_at(self) -> int | None:
        if len(self._auxiliary) < 16:
            return None
        # The stack is mapped high: the last parts are looked at first.
        for part in sorted(self._memory, key=lambda one: -one.address):
            if part.file_bytes <= 64 << 20:
                data = self.memory(part.address, part.file_bytes)
                at = -1 if data is None else data.rfind(self._auxiliary)
                if at >= 0:
                    return part.address + at
        return None

    def _read_head(self) -> None:
        refusal = DataError(
            f"{self.path} is no core file of x86-64, or is cut short before its notes.",
            field="--core",
        )
        try:
            elf = ElfFile(self._file)
            self._file.seek(16)
            if struct.unpack("<HH", self._file.read(4)) != _X86_64_CORE:
                raise refusal
            self._memory: list[ElfSegment] = elf.segments_of(_LOAD)
            for segment in elf.segments_of(_NOTE):
                if segment.file_bytes > _MOST_NOTE_BYTES or segment.offset > self._size:
                    raise refusal
                self._file.seek(segment.offset)
                self._read_notes(self._file.read(segment.file_bytes))
        except (NotElfError, struct.error, OSError, OverflowError):
            self.close()
            raise refusal from None
        except DataError:
            self.close()
            raise
        if not self.threads:
            self.close()
            raise refusal

    def _read_notes(self, data: bytes) -> None:
        for kind, content in _notes(data):
            if kind == _STATUS:
                thread = _thread_of(content)
                self.threads.append(thread)
            elif kind == _AUXILIARY:
                self._auxiliary = content[: len(content) // 16 * 16]
            elif kind == _FILES:
                self.files = list(_files(content))


def _notes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 12 <= len(data):
        name_bytes, size, kind = struct.unpack_from("<III", data, at)
        begin = at + 12 + (name_bytes + 3) // 4 * 4
        at = begin + (size + 3) // 4 * 4
        yield kind, data[begin : begin + size]


def _thread_of(content: bytes) -> CoreThread:
    (signal,) = struct.unpack_from("<H", content, _SIGNAL_AT)
    (thread,) = struct.unpack_from("<I", content, _THREAD_AT)
    values = struct.unpack_from(f"<{_REGISTER_COUNT}Q", content, _REGISTERS_AT)
    registers = {number: values[place] for number, place in enumerate(_DWARF_ORDER)}
    return CoreThread(thread, signal, registers)


def _files(content: bytes) -> Iterator[MappedPart]:
    count, page_bytes = struct.unpack_from("<QQ", content)
    rows = [struct.unpack_from("<QQQ", content, 16 + 24 * row) for row in range(count)]
    names = content[16 + 24 * count :].split(b"\0")
    for (begin, end, page), name in zip(rows, names, strict=False):
        yield MappedPart(begin, end, page * page_bytes, name.decode(errors="surrogateescape"))
