"""What order the functions of a linked program really have, read back from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from steelyard.build.code_layout import Layout, Module
from steelyard.build.elf_functions import ElfFunctions
from steelyard.build.section_script import group_of, grouped
from steelyard.core.hashing import sha256_of

_FIRST_COUNT = 5


@dataclass(frozen=True)
class RealisedOrder:
    """The functions of a program by their addresses.

    Parameters
    ----------
    names : tuple of str
        In order; a local function as ``source:name``.
    addresses : tuple of int
    """

    names: tuple[str, ...]
    addresses: tuple[int, ...]

    def summary(self) -> dict[str, object]:
        """For provenance: the hash of the order, that of the addresses too, the first names."""
        lines = "\n".join(self.names)
        return {
            "functions": len(self.names),
            "order_sha256": sha256_of(lines.encode("utf-8", "surrogateescape")).hex(),
            "addresses_sha256": sha256_of(self.text().encode("utf-8", "surrogateescape")).hex(),
            "first": list(self.names[:_FIRST_COUNT]),
        }

    def text(self) -> str:
        """One line a function: its address in hexadecimal, and its name."""
        rows = zip(self.addresses, self.names, strict=True)
        return "".join(f"{address:x} {name}\n" for address, name in rows)


def realised_order(program: ElfFunctions) -> RealisedOrder:
    """The order of the functions that are code of `program`."""
    found = sorted(
        (each.address, f"{each.file}:{each.name}" if each.local else each.name)
        for each in program.functions
        if each.section < len(program.sections) and program.sections[each.section].code
    )
    return RealisedOrder(tuple(name for _, name in found), tuple(at for at, _ in found))


def disorder(program: ElfFunctions, layout: Layout) -> str | None:
    """Where a program does not have the layout that was asked for, in words; None where it has.

    Looked at are functions whose name is defined once; a program that was linked without symbols
    shows nothing.
    """
    addresses = _addresses(program, layout)
    if layout.order is None:
        places = _first_places(layout.modules, addresses)
    else:
        places = [
            (placed.module.label, addresses[name])
            for placed in grouped(layout.order)
            for name in placed.section.functions[:1]
            if name in addresses
        ]
    for (before, low), (after, high) in pairwise(places):
        if low > high:
            return f"code of {after} lies before that of {before}"
    return None


def _first_places(modules: Sequence[Module], addresses: Mapping[str, int]) -> list[tuple[str, int]]:
    """Where each object's code begins, of those with code that no group sets apart."""
    last_group = group_of(".text")
    found: list[tuple[str, int]] = []
    for module in modules:
        own = [
            addresses[name]
            for section in module.sections
            if group_of(section.name) == last_group
            for name in section.functions
            if name in addresses
        ]
        if own:
            found.append((module.label, min(own)))
    return found


def _addresses(program: ElfFunctions, layout: Layout) -> dict[str, int]:
    """Addresses of the functions that one object alone defines, and the program once.

    Several at one address are names of one function, or equal ones that the linker folded into
    one (``--icf``), which then lies where only one of them was asked for.
    """
    objects = Counter(
        name
        for module in layout.modules
        for section in module.sections
        for name in section.functions
    )
    programs = Counter(each.name for each in program.functions)
    at = Counter(each.address for each in program.functions)
    return {
        each.name: each.address
        for each in program.functions
        if each.strong and objects[each.name] == programs[each.name] == 1 and at[each.address] == 1
    }
