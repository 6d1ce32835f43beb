"""How many arguments functions declare, by debugging information.

A call passes each of them, also those that the function never reads. Types of pointers are not
read, since those of casts are in no entry.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from steelyard.core.elf_file import SYMBOL_TABLE, ElfFile, TextTable, from_elf
from steelyard.profile.paths.debug_entries import Attribute, DebugUnit, Entry, Tag, debug_units
from steelyard.profile.paths.debug_ranges import starts_of
from steelyard.profile.symbols.debug_files import separate_file
from steelyard.profile.symbols.debug_sections import debug_sections

# Takes 3 to 4 s.
MOST_ENTRY_BYTES = 32 << 20
_SECTIONS = frozenset({"info", "abbrev", "ranges", "rnglists", "addr"})
# DW_LANG_C89, _C, _C99, _C11, _C17, _C23.
_LANGUAGES = frozenset({0x01, 0x02, 0x0C, 0x1D, 0x2C, 0x3E})
_SYMBOL = struct.Struct("<IBBHQQ")
_FUNCTION, _INDIRECT, _KIND_MASK = 2, 10, 15  # STT_FUNC, STT_GNU_IFUNC
_ALIASES = frozenset({Tag.TYPEDEF, Tag.CONSTANT, Tag.VOLATILE, Tag.RESTRICT, Tag.ATOMIC})
_WORDS = frozenset({Tag.POINTER, Tag.ENUMERATION})
_TYPES = _ALIASES | _WORDS | {Tag.BASE}
# DW_ATE_boolean, _signed, _signed_char, _unsigned, _unsigned_char, _UTF.
_WORD_ENCODINGS, _WORD_SIZES = frozenset({2, 5, 6, 7, 8, 16}), frozenset({1, 2, 4, 8})
_DAMAGE = (LookupError, ValueError, MemoryError, OSError, struct.error)


def declared_arguments(program: str, functions: Collection[int]) -> dict[int, int]:
    """How many integers and pointers some functions in C are passed, at least.

    Nothing is known without debugging information, if it is damaged or large, or without symbols.
    """
    apart = separate_file(program)
    for path in (program, *(() if apart is None else (apart,))):
        with suppress(*_DAMAGE):
            names = from_elf(path, _names, {})
            sections = _sections(path) if names else {}
            if sections:
                return {at: n for at, n in _declared(sections, names).items() if at in functions}
    return {}


def _sections(path: str) -> dict[str, bytes]:
    """The sections that are read, by their names; none if there are too many entries."""
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for one in debug_sections(path, folder):
            name = one.name.removeprefix(".debug_")
            if name == "info" and one.size > MOST_ENTRY_BYTES:
                return {}
            if name in _SECTIONS and name not in found:
                with open(one.path, "rb") as file:
                    file.seek(one.offset)
                    found[name] = file.read(one.size)
    return found if "info" in found else {}


def _names(elf: ElfFile) -> dict[int, list[str]]:
    """The names of each function, one for each symbol: two of other files may have the same."""
    table = next((each for each in elf.sections if each.kind == SYMBOL_TABLE), None)
    if table is None or elf.bits != 64:
        return {}
    names = TextTable(elf.data(elf.sections[table.link]))
    found: dict[int, list[str]] = {}
    data = elf.data(table)
    whole = data[: len(data) // _SYMBOL.size * _SYMBOL.size]
    for name, info, _, section, value, _ in _SYMBOL.iter_unpack(whole):
        if section and info & _KIND_MASK in (_FUNCTION, _INDIRECT):
            found.setdefault(value, []).append(names.at(name))
    return found


def _declared(
    sections: Mapping[str, bytes], names: Mapping[int, Collection[str]]
) -> dict[int, int]:
    found: dict[int, int] = {}
    seen: set[int] = set()
    for unit in debug_units(sections):
        # Other units than those that are read leave their functions out.
        with suppress(*_DAMAGE):
            for at, count in _of_unit(unit):
                # What linkers or compilers made one is of both types, and clones are of none.
                is_plain = len(names.get(at, ())) == 1 and not any("." in one for one in names[at])
                if is_plain and at not in seen and count > 0:
                    found[at] = count
                elif at in seen:
                    found.pop(at, None)
                seen.add(at)
    return found


@dataclass
class _Function:
    entry: Entry
    parameters: list[int | None] = field(default_factory=list[int | None])
    is_open: bool = False


def _of_unit(unit: DebugUnit) -> Iterator[tuple[int, int]]:
    """Where each function in C begins, and how many words it declares."""
    root = next(unit.entries(), None)
    if root is None or not unit.is_whole or root.number(Attribute.LANGUAGE) not in _LANGUAGES:
        return
    functions: dict[int, _Function] = {}
    types: dict[int, Entry] = {}
    within: list[_Function | None] = []
    for entry in unit.entries(root.number(Attribute.ADDRESS_BASE)):
        del within[entry.depth :]
        within += [None] * (entry.depth + 1 - len(within))
        outer = within[entry.depth - 1] if entry.depth else None
        if entry.tag == Tag.SUBPROGRAM:
            within[entry.depth] = functions[entry.at] = _Function(entry)
        elif entry.tag == Tag.PARAMETER and outer is not None:
            outer.parameters.append(entry.number(Attribute.TYPE))
        elif entry.tag == Tag.UNSPECIFIED and outer is not None:
            outer.is_open = True
        elif entry.tag in _TYPES:
            types[entry.at] = entry
    for one in functions.values():
        starts = starts_of(unit, root, one.entry)
        count = _count(_origin(one, functions), types) if starts else 0
        yield from ((start, count) for start in starts)


def _origin(one: _Function, functions: Mapping[int, _Function]) -> _Function | None:
    """What a function was made of that is also inlined."""
    at = one.entry.number(Attribute.ABSTRACT_ORIGIN)
    return one if at is None else functions.get(at)


def _count(one: _Function | None, types: Mapping[int, Entry]) -> int:
    """The words of a function with a prototype; structures may take some or none."""
    if one is None or one.is_open or not one.entry.number(Attribute.PROTOTYPED):
        return 0
    return sum(_is_word(at, types) for at in one.parameters)


def _is_word(at: int | None, types: Mapping[int, Entry]) -> bool:
    for _ in range(len(types)):
        entry = None if at is None else types.get(at)
        if entry is None:
            return False
        if entry.tag not in _ALIASES:
            encoding, size = entry.number(Attribute.ENCODING), entry.number(Attribute.BYTE_SIZE)
            is_number = encoding in _WORD_ENCODINGS and size in _WORD_SIZES
            return entry.tag in _WORDS or is_number
        at = entry.number(Attribute.TYPE)
    return False
