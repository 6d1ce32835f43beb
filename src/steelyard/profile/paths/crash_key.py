"""The key of a crash: the last function of the program, and how high its stack was."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import DataError
from steelyard.profile.paths.core_file import CoreFile, MappedPart
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.frame_rules import (
    RETURN_ADDRESS,
    STACK_POINTER,
    FrameTables,
    UnreadableRulesError,
)

_LOAD = 1
_NEVER_MAPPED_BYTES = 4096
_COLD = b".cold"
_MOST_LIBRARY_FRAMES = 256


@dataclass(frozen=True)
class CrashKey:
    """Where the thread that ended the program was.

    Parameters
    ----------
    function : int
        Address of the program's last function, in its file.
    height_bytes : int
        From where the stack begins to the function's canonical frame address.
    library_frame_count : int
        Frames of libraries that were walked to get there.
    signal : int
    """

    function: int
    height_bytes: int
    library_frame_count: int
    signal: int


def whole_functions(program: str, starts: Iterable[int]) -> dict[int, int]:
    """For each start, the function that it is a part of: compilers put `name.cold` elsewhere.

    The same address where it is no part, or where symbols do not tell whose.
    """
    symbols = read_symbols(program)
    given = list(starts)
    found = symbols.function_indices(np.array(given, np.uint64)).tolist()
    names = [symbols.names[index] if index >= 0 else b"" for index in found]
    wanted = {name[: -len(_COLD)] for name in names if name.endswith(_COLD)}
    owners: dict[bytes, list[int]] = {}
    for at, name in enumerate(symbols.names if wanted else ()):
        if name in wanted:
            owners.setdefault(name, []).append(int(symbols.addresses[at]))
    whole: dict[int, int] = {}
    for start, name in zip(given, names, strict=True):
        own = owners.get(name[: -len(_COLD)], []) if name.endswith(_COLD) else []
        whole[start] = own[0] if len(own) == 1 else start
    return whole


class _Image:
    """A mapped file, checked to be the one that the crashed program had."""

    def __init__(self, core: CoreFile, part: MappedPart, path: str, opened: ExitStack) -> None:
        try:
            file = opened.enter_context(open(path, "rb", opener=regular_opener))  # noqa: SIM115
            self._elf = ElfFile(file)
            self.tables = FrameTables(self._elf)
            self._check_build(core, part, path)
        except OSError as error:
            raise _unknown(f"{path} cannot be read: {error.strerror}") from None
        except NotElfError:
            raise _unknown(f"{path} is damaged or no ELF file") from None
        if not self.tables:
            raise _unknown(f"{path} has no frame tables (.eh_frame)")

    def address_of(self, at: int, part: MappedPart) -> int | None:
        """The address in the file of one in memory."""
        offset = at - part.begin + part.offset
        for segment in self._elf.segments_of(_LOAD):
            if segment.offset <= offset < segment.offset + segment.file_bytes:
                return offset - segment.offset + segment.address
        return None

    def _check_build(self, core: CoreFile, part: MappedPart, path: str) -> None:
        note = self._elf.section(".note.gnu.build-id")
        here = self.address_of(part.begin, part)
        if note is None or here is None:
            return
        there = core.memory(part.begin - here + note.address, note.size)
        if there is not None and there != self._elf.data(note):
            raise DataError(
                f"{path} is another build than the one that crashed.\nThe core file has another "
                "build id. Name the file of that build with --program.",
                field="--core",
            )


def program_of(core: CoreFile) -> str:
    """The path of the program that a core file is of.

    Raises
    ------
    DataError
        The core file does not say.
    """
    return _program_part(core).path


def crash_key(core: CoreFile, program: str) -> CrashKey:
    """The key of the thread that ended the program.

    Frames of libraries are walked until one of the program comes; no frame of the program is.

    Raises
    ------
    DataError
        Files or tables are missing or differ, or the crash was on another stack than that of the
        first thread.
    """
    own = _program_part(core).path
    thread = core.threads[0]
    start = core.stack_start()
    if start is None:
        raise _unknown("the core file has not the memory where the first thread's stack begins")
    registers = dict(thread.registers)
    is_return = _leave_null_call(core, registers)
    images: dict[str, _Image] = {}
    with ExitStack() as opened:
        for walked in range(_MOST_LIBRARY_FRAMES):
            at = registers[RETURN_ADDRESS] - (is_return or walked > 0)
            part = _part_at(core, at)
            if part is None:
                raise _unknown(f"{registers[RETURN_ADDRESS]:#x} lies in no file")
            if part.path not in images:
                path = program if part.path == own else part.path
                images[part.path] = _Image(core, part, path, opened)
            function, begin = _step(core, images[part.path], part, at, registers)
            if part.path == own:
                _check_stack(core, begin, start)
                return CrashKey(function, start - begin, walked, thread.signal)
    raise _unknown(f"more than {_MOST_LIBRARY_FRAMES} frames are of libraries")


def _leave_null_call(core: CoreFile, registers: dict[int, int]) -> bool:
    """Whether a null pointer was called; the registers become the caller's."""
    if registers[RETURN_ADDRESS] >= _NEVER_MAPPED_BYTES:
        return False
    caller = core.word(registers[STACK_POINTER])
    if caller is None:
        return False
    registers[RETURN_ADDRESS] = caller
    registers[STACK_POINTER] += 8
    return True


def _step(
    core: CoreFile, image: _Image, part: MappedPart, at: int, registers: dict[int, int]
) -> tuple[int, int]:
    """The function at an address, and where its frame begins; the registers become the caller's."""
    address = image.address_of(at, part)
    try:
        found = None if address is None else image.tables.at(address)
    except UnreadableRulesError as error:
        raise _unknown(f"the frame at {at:#x} of {part.path} cannot be left: {error}") from None
    if found is None or found[1].register not in registers:
        raise _unknown(f"{at:#x} of {part.path} is in no frame table")
    function, rules = found
    begin = (registers[rules.register] + rules.offset_bytes) % 2**64
    saved = {RETURN_ADDRESS: -8, **rules.saved}
    values = {number: core.word(begin + offset) for number, offset in saved.items()}
    for number, value in values.items():
        if value is None:
            raise _unknown(f"the core file has not the stack at {begin:#x}")
        registers[number] = value
    registers[STACK_POINTER] = begin
    return function, begin


def _check_stack(core: CoreFile, begin: int, start: int) -> None:
    # Memory between the two is all there where they are of one stack.
    if begin > start or core.memory(begin, start - begin) is None:
        raise _unknown(
            "it was on another stack than that of the first thread, whose beginning alone a core "
            "file says"
        )


def _part_at(core: CoreFile, address: int) -> MappedPart | None:
    return next((part for part in core.files if part.begin <= address < part.end), None)


def _program_part(core: CoreFile) -> MappedPart:
    entry = core.entry
    part = None if entry is None else _part_at(core, entry)
    if part is None:
        raise DataError(
            f"The core file {core.path} does not say which program it is of: its notes have no "
            "entry address, or no list of files.",
            field="--core",
        )
    return part


def _unknown(reason: str) -> DataError:
    return DataError(f"The crash cannot be looked up.\nThe reason: {reason}.", field="--core")
