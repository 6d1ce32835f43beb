"""Functions that can be delayed, and programs in which one of them is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.profile.symbols import read_symbols, readable_name

BINARY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_native", "steelyard-delayer")
_END_BRANCH = b"\xf3\x0f\x1e\xfa"
# A delay takes 11 bytes; native/delayer/src/sled.hpp.
_SLED_BYTES = 11


@dataclass(frozen=True)
class DelayableFunction:
    """A function with room for a delay at its entry: its name, and its place in the file."""

    name: str
    offset: int


def delayer_path() -> str:
    """The installed delayer.

    Raises
    ------
    MissingCapabilityError
        It was not built, as on machines other than x86-64.
    """
    if not os.access(BINARY, os.X_OK):
        raise MissingCapabilityError(
            f"The delayer is not installed at {BINARY}; it is there on x86-64. `make native` "
            "builds it."
        )
    return BINARY


def delayable_functions(program: str) -> dict[str, DelayableFunction]:
    """The functions of a program that were built with a sled, by name.

    Raises
    ------
    UsageError
        There is none.
    """
    symbols = read_symbols(program)
    with open(program, "rb") as file:
        code = file.read()
    found: dict[str, DelayableFunction] = {}
    for address, name in zip(symbols.addresses, symbols.names, strict=True):
        offset = _file_offset(symbols.segments, int(address))
        if offset is not None and _has_sled(code[offset : offset + 32]):
            plain = readable_name(name)
            found[plain] = DelayableFunction(plain, offset)
    if not found:
        raise UsageError(
            f"No function of {program} has room for a delay. Build it with "
            "-fpatchable-function-entry=16 -fno-ipa-ra, and do not strip it.",
            field="command",
        )
    return found


def _file_offset(segments: Sequence[tuple[int, int, int]], address: int) -> int | None:
    for offset, size, start in segments:
        if start <= address < start + size:
            return address - start + offset
    return None


def _has_sled(entry: bytes) -> bool:
    """Whether no-operations begin a function; the delayer itself looks at all of them."""
    body = entry.removeprefix(_END_BRANCH)
    if body[:1] == b"\x90":
        return body[:_SLED_BYTES] == b"\x90" * _SLED_BYTES
    long = body.lstrip(b"\x66\x2e")
    return len(long) < len(body) and long[:2] == b"\x0f\x1f"


def delayed_argv(
    program: str, function: DelayableFunction, turns: int, argv: Sequence[str]
) -> list[str]:
    """The command that runs `argv` with `function` of `program` delayed by `turns` of a loop."""
    return [delayer_path(), program, str(function.offset), str(turns), "--", *argv]
