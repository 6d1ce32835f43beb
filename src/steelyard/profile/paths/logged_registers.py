"""The key of a crash from registers that were logged, with the program's file alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import LOADED_SEGMENT, ElfFile, NotElfError
from steelyard.core.errors import DataError, UsageError
from steelyard.profile.symbols.frame_rules import (
    STACK_POINTER,
    FrameTables,
    UnreadableRulesError,
)

_FRAME_POINTER = 6
_EXECUTABLE = 1
_PAGE_BYTES = 4096
# show_signal_msg() and print_vma_addr() of the kernel; newer ones give the offset in the file too.
_LOGGED = re.compile(
    r"\bip[: ]([0-9a-f]+) sp[: ]([0-9a-f]+) .*"
    r"\bin [^\[]*\[(?:([0-9a-f]+),)?([0-9a-f]+)\+[0-9a-f]+\]"
)


@dataclass(frozen=True)
class LoggedRegisters:
    """Registers of a thread as it ended.

    Parameters
    ----------
    pc, sp : int
        The instruction, as an address of the program's file, and the stack pointer.
    frame_pointer, base : int or None
        Where the stack of the thread begins; None: not known.
    """

    pc: int
    sp: int
    frame_pointer: int | None = None
    base: int | None = None


@dataclass(frozen=True)
class LoggedKey:
    """The function, and how high its stack was; None where that is not known."""

    function: int
    height_bytes: int | None


def address_in_file(program: str, line: str) -> tuple[int, int]:
    """The instruction, as an address of the program's file, and the stack pointer of a crash, by a
    line of the kernel's log.

    Raises
    ------
    UsageError
        It is no such line.
    DataError
        The program cannot be read.
    """
    found = _LOGGED.search(line)
    if found is None:
        raise UsageError(
            "--log has no line of a crash as the kernel writes it.\n"
            "Such a line has 'ip ADDRESS sp ADDRESS ... in PROGRAM[ADDRESS+SIZE]' (dmesg).",
            field="--log",
        )
    pc, sp, start = (int(found[number], 16) for number in (1, 2, 4))
    if found[3] is not None:
        # The offset of the instruction in the file.
        return _linked(program, int(found[3], 16)), sp
    return _of_mapping(program, pc - start), sp


def logged_key(program: str, logged: LoggedRegisters) -> LoggedKey:
    """The key of a thread by its registers.

    Raises
    ------
    UsageError
        A register is missing that says where the frame begins.
    DataError
        The program cannot be read, or no table of it covers the instruction.
    """
    tables = _opened(program)[1]
    try:
        found = tables.at(logged.pc)
    except UnreadableRulesError as error:
        raise _without_frame(program, logged.pc, str(error)) from None
    if found is None:
        raise _without_frame(program, logged.pc, "no table covers it")
    function, rules = found
    if logged.base is None:
        return LoggedKey(function, None)
    if rules.register == STACK_POINTER:
        begin = logged.sp + rules.offset_bytes
    elif rules.register != _FRAME_POINTER:
        raise _without_frame(program, logged.pc, "its frame begins at another register")
    elif logged.frame_pointer is None:
        raise UsageError(
            f"The frame at {logged.pc:#x} begins by the frame pointer: give --frame-pointer.",
            field="--frame-pointer",
        )
    else:
        begin = logged.frame_pointer + rules.offset_bytes
    if not 0 < logged.base - begin < 1 << 40:
        raise UsageError(
            f"The stack begins at {logged.base:#x}, and the frame at {begin:#x}: that is not of "
            "one stack.",
            field="--base",
        )
    return LoggedKey(function, logged.base - begin)


def _opened(program: str) -> tuple[ElfFile, FrameTables]:
    try:
        with open(program, "rb", opener=regular_opener) as file:
            elf = ElfFile(file)
            tables = FrameTables(elf)
            segments = elf.segments_of(LOADED_SEGMENT)
    except (OSError, NotElfError):
        raise DataError(f"{program} cannot be read as a program.", field="--program") from None
    if not tables or not segments:
        raise DataError(f"{program} has no frame tables (.eh_frame).", field="--program")
    return elf, tables


def _linked(program: str, offset: int) -> int:
    for segment in _opened(program)[0].segments_of(LOADED_SEGMENT):
        if segment.offset <= offset < segment.offset + segment.file_bytes:
            return offset - segment.offset + segment.address
    raise DataError(f"{program} has nothing at offset {offset:#x}.", field="--log")


def _of_mapping(program: str, distance: int) -> int:
    """The address of what lies so far from where the program's code is mapped."""
    for segment in _opened(program)[0].segments_of(LOADED_SEGMENT):
        page = segment.address // _PAGE_BYTES * _PAGE_BYTES
        if segment.flags & _EXECUTABLE and page + distance < segment.address + segment.file_bytes:
            return page + distance
    raise DataError(f"{program} has no code {distance:#x} bytes behind its begin.", field="--log")


def _without_frame(program: str, address: int, why: str) -> DataError:
    return DataError(
        f"The frame at {address:#x} of {program} is not known: {why}.\n"
        "Addresses are those of the program's file; --image says where that was loaded.",
        field="--pc",
    )
