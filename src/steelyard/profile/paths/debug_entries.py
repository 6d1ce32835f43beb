"""Entries of debugging information that declare functions and types (DWARF 4 and 5, section 7.5).

Each unit is read once from its start to its end; what declares nothing is passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple


class Tag(IntEnum):
    """Kinds of entries (DW_TAG)."""

    ENUMERATION = 0x04
    PARAMETER = 0x05
    POINTER = 0x0F
    COMPILE_UNIT = 0x11
    TYPEDEF = 0x16
    UNSPECIFIED = 0x18
    BASE = 0x24
    CONSTANT = 0x26
    SUBPROGRAM = 0x2E
    VOLATILE = 0x35
    RESTRICT = 0x37
    IMPORTED_UNIT = 0x3D
    ATOMIC = 0x47


class Attribute(IntEnum):
    """What is said of an entry (DW_AT)."""

    BYTE_SIZE = 0x0B
    LOW_PC = 0x11
    LANGUAGE = 0x13
    PROTOTYPED = 0x27
    ABSTRACT_ORIGIN = 0x31
    ENCODING = 0x3E
    TYPE = 0x49
    RANGES = 0x55
    ADDRESS_BASE = 0x73


_TAGS, _ATTRIBUTES = frozenset(Tag), frozenset(Attribute)
_IMPLICIT, _PRESENT = 0x21, 0x19
# Bytes of each form (DW_FORM): addr, data1 to data16, flag, ref1 to ref8, flag_present, strx1 to
# strx4, addrx1 to addrx4.
_FIXED = {0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8}
_FIXED |= {_PRESENT: 0, 0x1E: 16, _IMPLICIT: 0, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4}
_FIXED |= {0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4}
# udata, sdata, strx, addrx, loclistx, rnglistx, ref_udata.
_NUMBERS = frozenset({0x0D, 0x0F, 0x1A, 0x1B, 0x22, 0x23, 0x15})
# Numbers of what other sections hold, as units have that are kept apart: strx, addrx and the like.
_INDICES = frozenset({0x1A, 0x1B, 0x22, 0x23, *range(0x25, 0x2D)})
_ADDRESS_INDICES = frozenset({0x1B, *range(0x29, 0x2D)})
_ADDRESS, _ADDRESS_BYTES = struct.Struct("<Q"), 8
_OFFSETS = frozenset({0x0E, 0x17, 0x1F})  # strp, sec_offset, line_strp
_STRING, _BLOCK_1, _BLOCK_2, _BLOCK_4 = 0x08, 0x0A, 0x03, 0x04
_BLOCKS = frozenset({0x09, 0x18})  # block, exprloc
_WITHIN_UNIT = frozenset({0x11, 0x12, 0x13, 0x14, 0x15})
# ref_addr, ref_sig8, and those of supplementary files: what is meant is not in the unit.
_ELSEWHERE = {0x10: -1, 0x20: 8, 0x1C: 4, 0x24: 8, 0x1D: -1, 0x1F20: -1, 0x1F21: -1}
_NO_VALUES: Mapping[int, int] = {}
_COMPILE = 0x01  # DW_UT_compile
_VERSIONS = (4, 5)


class UnreadableEntriesError(ValueError):
    """The entries are damaged, or of a kind that is not read."""


class Entry(NamedTuple):
    """An entry, and how many others it is in."""

    at: int
    depth: int
    tag: int
    values: Mapping[int, int]

    def number(self, attribute: Attribute) -> int | None:
        """A value that is a number."""
        return self.values.get(attribute)


class _Shape(NamedTuple):
    """An abbreviation: the tag, whether entries follow that are in it, its attributes, and how many
    bytes they take if that is always the same."""

    tag: int
    has_children: bool
    attributes: tuple[tuple[int, int, int], ...]
    size: int | None


@dataclass(frozen=True)
class DebugUnit:
    """A unit of a source file.

    Parameters
    ----------
    at, end, first : int
        In the section; and where its entries start.
    version, offset_bytes : int
    sections : mapping of str to bytes
        Without `.debug_` before their names.
    """

    at: int
    end: int
    first: int
    version: int
    offset_bytes: int
    sections: Mapping[str, bytes]
    _shapes: Mapping[int, _Shape] = field(repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether it says everything itself, without others that it shares."""
        return not any(
            shape.tag == Tag.IMPORTED_UNIT or any(one[1] in _ELSEWHERE for one in shape.attributes)
            for shape in self._shapes.values()
        )

    def entries(self, addresses_at: int | None = None) -> Iterator[Entry]:
        """Those of the kinds of `Tag`, and without values those that others are in, in their order.

        `addresses_at` is where the unit's addresses begin in `.debug_addr`, if it has some there.

        Raises
        ------
        UnreadableEntriesError
        """
        data, shapes, at, depth = self.sections["info"], self._shapes, self.first, 0
        while at < self.end:
            start = at
            code, at = number_at(data, at)
            if code == 0:
                depth -= 1
                if depth <= 0:
                    return
                continue
            shape = shapes.get(code)
            if shape is None:
                raise UnreadableEntriesError
            values: Mapping[int, int] = _NO_VALUES
            if shape.tag in _TAGS:
                values, at = self._values(shape, at, addresses_at)
            elif shape.size is not None:
                at += shape.size
            else:
                for _, form, _ in shape.attributes:
                    at = self._behind(form, at)
            if shape.tag in _TAGS or shape.has_children:
                yield Entry(start, depth, shape.tag, values)
            depth += shape.has_children
            if depth == 0:
                return

    def _values(
        self, shape: _Shape, at: int, addresses_at: int | None
    ) -> tuple[dict[int, int], int]:
        found: dict[int, int] = {}
        for attribute, form, implicit in shape.attributes:
            end = self._behind(form, at)
            if attribute in _ATTRIBUTES:
                value = self._value(form, at, implicit, addresses_at)
                if value is not None:
                    found[attribute] = value
            at = end
        return found, at

    def _behind(self, form: int, at: int) -> int:
        """Where the value ends."""
        data = self.sections["info"]
        size = _FIXED.get(form)
        if size is not None:
            return at + size
        if form in _OFFSETS:
            return at + self.offset_bytes
        if form in _NUMBERS:
            return number_at(data, at)[1]
        if form in _BLOCKS:
            size, at = number_at(data, at)
            return at + size
        if form == _STRING:
            return data.index(b"\0", at) + 1
        width = {_BLOCK_1: 1, _BLOCK_2: 2, _BLOCK_4: 4}.get(form)
        if width is not None:
            return at + width + int.from_bytes(data[at : at + width], "little")
        size = _ELSEWHERE.get(form)
        if size is not None:
            return at + (self.offset_bytes if size < 0 else size)
        raise UnreadableEntriesError

    def _value(self, form: int, at: int, implicit: int, addresses_at: int | None) -> int | None:
        """A number, an address or the place of an entry; None for all others."""
        data = self.sections["info"]
        if form == _IMPLICIT:
            return implicit
        if form == _PRESENT:
            return 1
        size = self.offset_bytes if form in _OFFSETS else _FIXED.get(form)
        if size is not None:
            number = int.from_bytes(data[at : at + size], "little")
        elif form in _NUMBERS:
            number = number_at(data, at)[0]
        else:
            return None
        if form in _WITHIN_UNIT:
            return number + self.at
        if form not in _INDICES:
            return number
        if addresses_at is None or form not in _ADDRESS_INDICES:
            return None
        place = addresses_at + _ADDRESS_BYTES * number
        return int(_ADDRESS.unpack_from(self.sections["addr"], place)[0])


def debug_units(sections: Mapping[str, bytes]) -> Iterator[DebugUnit]:
    """The units of source files, but those of other versions, of types and of other machines.

    Raises
    ------
    UnreadableEntriesError
    """
    data, at = sections["info"], 0
    known: dict[int, dict[int, _Shape]] = {}
    most_shapes = len(sections.get("abbrev", b""))
    while at < len(data):
        start, offset_bytes = at, 4
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if size == 0xFFFFFFFF:
            (size,), offset_bytes, at = struct.unpack_from("<Q", data, at), 8, at + 8
        end = at + size
        if end > len(data) or size < 8:
            raise UnreadableEntriesError
        version = int.from_bytes(data[at : at + 2], "little")
        kind, at = (data[at + 2], at + 3) if version >= 5 else (_COMPILE, at + 2)
        address_at = at if version >= 5 else at + offset_bytes
        table_at = at + 1 if version >= 5 else at
        table = int.from_bytes(data[table_at : table_at + offset_bytes], "little")
        first = at + 1 + offset_bytes
        if version in _VERSIONS and kind == _COMPILE and data[address_at] == 8:
            if table not in known:
                known[table] = _shapes(sections.get("abbrev", b""), table, offset_bytes)
                # Tables that are in each other are no compiler's.
                most_shapes -= len(known[table])
                if most_shapes < 0:
                    raise UnreadableEntriesError
            yield DebugUnit(start, end, first, version, offset_bytes, sections, known[table])
        at = end


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """A number of any length (LEB128) without a sign, and where it ends."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    found, shift = byte & 0x7F, 7
    while byte >= 0x80 and shift < 70:
        at += 1
        byte = data[at]
        found |= (byte & 0x7F) << shift
        shift += 7
    return found, at + 1


def _shapes(data: bytes, at: int, offset_bytes: int) -> dict[int, _Shape]:
    found: dict[int, _Shape] = {}
    while True:
        code, at = number_at(data, at)
        if code == 0:
            return found
        tag, at = number_at(data, at)
        has_children, at = bool(data[at]), at + 1
        attributes: list[tuple[int, int, int]] = []
        while True:
            attribute, at = number_at(data, at)
            form, at = number_at(data, at)
            implicit = 0
            if form == _IMPLICIT:
                implicit, at = number_at(data, at)
            if attribute == form == 0:
                break
            attributes.append((attribute, form, implicit))
        sizes = [offset_bytes if one[1] in _OFFSETS else _FIXED.get(one[1]) for one in attributes]
        known = [size for size in sizes if size is not None]
        size = sum(known) if len(known) == len(sizes) else None
        found[code] = _Shape(tag, has_children, tuple(attributes), size)
