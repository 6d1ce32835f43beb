"""Code that leads calls through wrappers and marks, and where each piece of it is called from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.core.elf_file import ElfFile
from steelyard.profile.paths.added_code import CLONE_SECTION, CODE_SECTION
from steelyard.profile.symbols.frame_rules import (
    STACK_POINTER,
    FrameTables,
    UnreadableRulesError,
)

_CALL, _CALL_BYTES = 0xE8, 5
_CODE = ".text"


@dataclass(frozen=True)
class LeftStubs:
    """Addresses as if samples in such code were at its calls.

    Parameters
    ----------
    addresses : array of uint64
        Of the call, where a sample is in what that calls; the same elsewhere.
    added_bytes : array of int
        What the stack pointer has to become higher by.
    were_inside : array of bool
    """

    addresses: npt.NDArray[np.uint64]
    added_bytes: npt.NDArray[np.int64]
    were_inside: npt.NDArray[np.bool_]


def left_stubs(elf: ElfFile, tables: FrameTables, addresses: npt.NDArray[np.uint64]) -> LeftStubs:
    """Go from the code that stands between callers and functions to the callers.

    Parameters
    ----------
    elf : ElfFile
        The program.
    tables : FrameTables
        Of it.
    addresses : array of uint64
        As its linker gave them.
    """
    left = addresses.copy()
    added = np.zeros(len(addresses), np.int64)
    begin, end = stub_span(elf)
    inside = (addresses >= np.uint64(begin)) & (addresses < np.uint64(end))
    sites = _call_sites(elf, begin, end) if inside.any() else {}
    for address in np.unique(addresses[inside]).tolist():
        try:
            found = tables.at(address)
        except UnreadableRulesError:
            continue
        if found is None or found[1].register != STACK_POINTER or found[0] not in sites:
            continue
        here = addresses == address
        left[here] = sites[found[0]]
        # The frame of what is called begins where the stack pointer was before the call.
        added[here] = found[1].offset_bytes
    return LeftStubs(left, added, left != addresses)


def stub_span(elf: ElfFile) -> tuple[int, int]:
    """Where such code begins and ends; zeros where there is none."""
    section = elf.section(CODE_SECTION)
    return (0, 0) if section is None else (section.address, section.address + section.size)


def _call_sites(elf: ElfFile, begin: int, end: int) -> dict[int, int]:
    """For each function between two addresses the one call of it."""
    sites: dict[int, int] = {}
    several: set[int] = set()
    for section in elf.sections:
        if not section.name.startswith((_CODE, CLONE_SECTION)):
            continue
        code = np.frombuffer(elf.data(section), np.uint8)
        at = np.flatnonzero(code[: max(0, len(code) - _CALL_BYTES + 1)] == _CALL)
        distances = np.zeros(len(at), np.uint32)
        for byte in range(_CALL_BYTES - 1):
            distances |= code[at + 1 + byte].astype(np.uint32) << np.uint32(8 * byte)
        calls = at + section.address
        targets = calls + _CALL_BYTES + distances.view(np.int32)
        chosen = (targets >= begin) & (targets < end)
        for target, call in zip(targets[chosen].tolist(), calls[chosen].tolist(), strict=True):
            if target in sites:
                several.add(target)
            sites[target] = call
    return {target: call for target, call in sites.items() if target not in several}
