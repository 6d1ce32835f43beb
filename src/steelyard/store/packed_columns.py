"""Columns of numbers as bytes: each as narrow as its values allow, one value where all are alike.

The form is a magic number, the length of a JSON object in four bytes, that object, and the bytes
of the columns in its order, little-endian. The object says of each column what its numbers are and
how many there are. What is read is checked: a damaged form is a `ValueError`.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

MAGIC = b"SYC1"
_LENGTH = struct.Struct("<I")
# Typecodes of `array` that have these sizes wherever CPython runs.
_WHOLE_TYPES = {"b": 7, "h": 15, "i": 31, "q": 63}
_SIZES = {"b": 1, "h": 2, "i": 4, "q": 8, "d": 8}

Numbers = Sequence[int] | Sequence[float]


def pack_columns(
    columns: Mapping[str, Numbers], about: Mapping[str, Any], *, whole: bool = False
) -> bytes:
    """Columns and an object about them as bytes.

    Parameters
    ----------
    columns : mapping of name to sequence
        Of whole numbers of 64 bits, or of an ``array('d')``.
    about : mapping
        Plain JSON.
    whole : bool
        Write each value of a column, also where all are alike.
    """
    told: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    for name, values in columns.items():
        column, data = _packed(values, whole)
        told[name] = column
        parts.append(data)
    head = json.dumps({"columns": told, "about": about}, separators=(",", ":")).encode()
    return b"".join((MAGIC, _LENGTH.pack(len(head)), head, *parts))


def _packed(values: Numbers, whole: bool) -> tuple[dict[str, Any], bytes]:
    floats = isinstance(values, array) and values.typecode == "d"
    about: dict[str, Any] = {"count": len(values)}
    if floats:
        kind = "d"
    else:
        low, high = min(values, default=0), max(values, default=0)
        kind = next(
            k for k, bits in _WHOLE_TYPES.items() if -(1 << bits) <= low <= high < 1 << bits
        )
        if low == high and not whole:
            return {**about, "type": kind, "constant": low}, b""
    found = array(kind, values)
    if floats and len(values) and not whole and found.tobytes() == found[:1].tobytes() * len(found):
        return {**about, "type": kind, "constant": found[0].hex()}, b""
    if sys.byteorder == "big":
        found.byteswap()
    return {**about, "type": kind}, found.tobytes()


class PackedColumns:
    """What `pack_columns` made, of which each column is decoded when it is asked for.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    ValueError
        It is of another form, or cut off. From `column` too.
    """

    def __init__(self, data: bytes) -> None:
        start = len(MAGIC) + _LENGTH.size
        if data[: len(MAGIC)] != MAGIC or len(data) < start:
            raise ValueError("it does not begin as packed columns")
        (length,) = _LENGTH.unpack_from(data, len(MAGIC))
        head: Any = json.loads(data[start : start + length])
        if not isinstance(head, dict) or not isinstance(head.get("about"), dict):
            raise ValueError("it says nothing about its columns")
        self.about: dict[str, Any] = head["about"]
        self._data = memoryview(data)
        self._columns: dict[str, tuple[str, int, Any, int]] = {}
        at = start + length
        for name, told in head["columns"].items():
            kind, count, constant = told["type"], told["count"], told.get("constant")
            if kind not in _SIZES or not isinstance(count, int) or not 0 <= count <= 1 << 40:
                raise ValueError(f"the column {name} is of an unknown kind")
            self._columns[name] = (kind, count, constant, at)
            at += 0 if constant is not None else count * _SIZES[kind]
        if at != len(data):
            raise ValueError("it is cut off")

    def whole(self, name: str, wanted_count: int, typecode: str = "i") -> array[int]:
        """The numbers of a column of whole ones, as an array of this type."""
        kind, count, constant, at = self._columns[name]
        if count != wanted_count or kind == "d":
            raise ValueError(f"the column {name} has {count} values of the type {kind}")
        if constant is None:
            found = self._numbers(kind, count, at)
            return found if kind == typecode else array(typecode, found)
        if not isinstance(constant, int) or isinstance(constant, bool):
            raise ValueError(f"the column {name} is constant at {constant!r}")
        return array(typecode, [constant]) * count

    def doubles(self, name: str, wanted_count: int) -> array[float]:
        """The numbers of a column of floats, as an array."""
        kind, count, constant, at = self._columns[name]
        if count != wanted_count or kind != "d":
            raise ValueError(f"the column {name} has {count} values of the type {kind}")
        if constant is not None:
            return array("d", [float.fromhex(constant)]) * count
        return self._numbers(kind, count, at)

    def _numbers(self, kind: str, count: int, at: int) -> array[Any]:
        found = array(kind)
        found.frombytes(self._data[at : at + count * _SIZES[kind]])
        if sys.byteorder == "big":
            found.byteswap()
        return found
