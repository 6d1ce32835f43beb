"""Functions that align their stack, so that heights above them depend on where the stack begins."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence

from steelyard.core.elf_file import INSTRUCTIONS, ElfFile, from_elf

# and $-32, $-64 or $-128,%rsp; and $imm32,%rsp with its low byte 0. The kernel and the C library
# align stacks to 16 bytes themselves (System V ABI, AMD64 supplement, 3.4.1), so that less changes
# nothing.
_ALIGNING = re.compile(rb"\x48\x83\xe4[\xe0\xc0\x80]|\x48\x81\xe4\x00..\xff", re.DOTALL)


def aligning_functions(program: str, wanted: Collection[int], starts: Sequence[int]) -> list[int]:
    """Those of the wanted functions that align their stack to more than 16 bytes.

    Parameters
    ----------
    program : str
        An ELF file for x86-64.
    wanted : collection of int
        Addresses of functions in the file.
    starts : sequence of int
        Where all functions begin, rising: each ends before the next one.
    """
    return from_elf(program, lambda elf: _aligning(elf, set(wanted), starts), [])


def _aligning(elf: ElfFile, wanted: set[int], starts: Sequence[int]) -> list[int]:
    found: set[int] = set()
    for section in elf.sections:
        if not section.flags & INSTRUCTIONS:
            continue
        for match in _ALIGNING.finditer(elf.data(section)):
            at = bisect_right(starts, section.address + match.start()) - 1
            if at >= 0 and starts[at] in wanted:
                found.add(starts[at])
    return sorted(found)
