"""Marked calls of a program: code that changes the value of its thread around a call.

The value is a word of the C library's block of a thread that the library does not use
(`__glibc_unused2` of `tcbhead_t`, glibc, sysdeps/x86_64/nptl/tls.h). A second word is the function
that a recorder wants to be called where an exception passes a marked call; 0: none.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.analysis.paths.path_marks import MARK_BYTES, Call
from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import UsageError
from steelyard.core.program_loader import loader_of
from steelyard.profile.paths.frame_table_copy import FrameChange

# Not allocated: a call and its number, a row each.
MARK_SECTION = ".steelyard.marks"
_ROW = struct.Struct("<QQQ")
VALUE_AT, PASSING_AT = 0x80, 0x88
_LOADER = "ld-linux-x86-64.so.2"
_CALL, _RETURN = b"\xe8", b"\xc3"
_WORD_BYTES = 8


@dataclass(frozen=True)
class CallCode:
    """Code around a call.

    Parameters
    ----------
    before, behind : bytes
        The call stands between them.
    changes : tuple of FrameChange
        How far the frame is above the stack pointer.
    """

    before: bytes
    behind: bytes
    changes: tuple[FrameChange, ...]


def marking(number: int) -> CallCode:
    """Code that marks a call, and puts the value back behind it.

    It changes no flag, and no register but the stack pointer, as `path_marks` says.
    """
    save = b"\x64\xff\x34\x25" + struct.pack("<I", VALUE_AT)  # push %fs:VALUE
    change = (
        b"\x48\x89\x44\x24\xf8"  # mov %rax, -8(%rsp)
        + b"\x64\x48\x8b\x04\x25"  # mov %fs:VALUE, %rax
        + struct.pack("<I", VALUE_AT)
        + b"\x48\x8d\x84\x40"  # lea NUMBER(%rax, %rax, 2), %rax
        + struct.pack("<i", number)
        + b"\x48\x8d\x04\x04"  # lea (%rsp, %rax), %rax
        + b"\x64\x48\x89\x04\x25"  # mov %rax, %fs:VALUE
        + struct.pack("<I", VALUE_AT)
        + b"\x48\x8b\x44\x24\xf8"  # mov -8(%rsp), %rax
    )
    put_back = b"\x64\x8f\x04\x25" + struct.pack("<I", VALUE_AT)  # pop %fs:VALUE
    call_bytes = 5
    changes = (
        FrameChange(len(save), MARK_BYTES),
        FrameChange(len(change) + call_bytes + len(put_back), _WORD_BYTES),
    )
    return CallCode(save + change, put_back + _RETURN, changes)


def passing_routine() -> bytes:
    """The personality routine of marked calls: an exception that passes goes on.

    A recorder puts the value of the thread back there (`PASSING_AT`).
    """
    return (
        b"\x64\x48\x8b\x04\x25"  # mov %fs:PASSING, %rax
        + struct.pack("<I", PASSING_AT)
        + b"\x48\x85\xc0"  # test %rax, %rax
        + b"\x74\x02"  # je
        + b"\xff\xe0"  # jmp *%rax
        + b"\xb8\x08\x00\x00\x00"  # mov $_URC_CONTINUE_UNWIND, %eax
        + _RETURN
    )


def mark_rows(numbers: Mapping[Call, int]) -> bytes:
    """The section that names marked calls."""
    return b"".join(_ROW.pack(*call, number) for call, number in sorted(numbers.items()))


def marks_of(program: str) -> dict[Call, int]:
    """The marked calls of a program; none of what is no program.

    Parameters
    ----------
    program : str
        Its file.
    """
    try:
        with open(program, "rb", opener=regular_opener) as file:
            elf = ElfFile(file)
            section = elf.section(MARK_SECTION)
            rows = b"" if section is None else elf.data(section)
    except (OSError, NotElfError, struct.error):
        return {}
    whole = rows[: len(rows) // _ROW.size * _ROW.size]
    return {(caller, callee): number for caller, callee, number in _ROW.iter_unpack(whole)}


def check_mark_carrier(program: str, numbers: Mapping[Call, int]) -> None:
    """Refuse a program whose threads have no place for a value.

    Raises
    ------
    UsageError
        It is of another C library than glibc.
    """
    if not numbers:
        return
    loader = loader_of(program) or "none"
    if not loader.endswith(_LOADER):
        raise UsageError(
            f"Calls of {program} cannot be marked: its loader is {loader}.\nThe value of a thread "
            f"is kept where glibc has room, whose loader is {_LOADER}.",
            field="--program",
        )
