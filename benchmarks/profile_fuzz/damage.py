"""Damage at random: to bytes, to lines and words, and inside chunks whose check is made to hold."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Sequence

_NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
_WORDS = (
    *(b"", b" ", b"\0", b"\n", b"\r", b"\t", b"-1", b"0", b"1", b"1e999", b"NaN", b"Infinity"),
    *(b"99999999999999999999", b"ffffffffffffffff", b"\xff\xfe", "\u2028²٣".encode(), b";", b"'2"),
    *(b"{}", b"[]", b"null", b"true", b'""', b"[" * 200, b'{"a":' * 200, b"()", b"=", b":", b"@"),
    *(b"/dev/zero", b"/", b"..", b"%n"),
)
_HEAD = struct.Struct("<4sII")


def damaged(data: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    """`data` with one to four faults; `others` are inputs that parts may come from."""
    for _ in range(draws.choice((1, 1, 1, 2, 4))):
        data = draws.choice(_FAULTS)(data, draws, others)
    return data


def damaged_chunks(data: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    """A profile of the sampler with faults in its header or its chunks, whose checks hold."""
    if draws.random() < 0.1:
        return damaged(data, draws, others)
    head, chunks = _parted(data)
    if not chunks or draws.random() < 0.15:
        magic, _, rest = head.partition(b"\n")
        head = magic + b"\n" + damaged(rest[:-1], draws, others).replace(b"\n", b" ") + b"\n"
    elif draws.random() < 0.15:
        order = [draws.choice(chunks) for _ in range(draws.randrange(len(chunks) + 2))]
        chunks = order
    else:
        index = draws.randrange(len(chunks))
        mark, payload = chunks[index]
        if draws.random() < 0.05:
            mark = draws.choice((b"SMPL", b"WORD", b"EVNT", b"????"))
        chunks[index] = (mark, damaged(payload, draws, [part for _, part in chunks]))
    return head + b"".join(_chunk(mark, payload) for mark, payload in chunks)


def _parted(data: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """The two lines of the head, and each chunk's mark and payload."""
    at = data.index(b"\n", data.index(b"\n") + 1) + 1
    head, chunks = data[:at], list[tuple[bytes, bytes]]()
    while at < len(data):
        mark, length, _ = _HEAD.unpack_from(data, at)
        chunks.append((mark, data[at + _HEAD.size : at + _HEAD.size + length]))
        at += _HEAD.size + length
    return head, chunks


def _chunk(mark: bytes, payload: bytes) -> bytes:
    return _HEAD.pack(mark, len(payload), zlib.crc32(payload)) + payload


def _flip(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = draws.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << draws.randrange(8))]) + data[at + 1 :]


def _number(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    width = draws.choice((1, 2, 4, 8))
    value = draws.choice(_NUMBERS) & ((1 << 8 * width) - 1)
    at = draws.randrange(len(data) + 1)
    return data[:at] + value.to_bytes(width, "little") + data[at + width :]


def _cut(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    return data[: draws.randrange(len(data) + 1)]


def _part(data: bytes, draws: random.Random) -> tuple[int, int]:
    begin = draws.randrange(len(data) + 1)
    return begin, min(len(data), begin + draws.choice((1, 4, 8, 16, 53, 64)))


def _drop(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    begin, end = _part(data, draws)
    return data[:begin] + data[end:]


def _repeat(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    begin, end = _part(data, draws)
    return data[:end] + data[begin:end] * draws.choice((1, 2, 50)) + data[end:]


def _splice(data: bytes, draws: random.Random, others: Sequence[bytes]) -> bytes:
    other = draws.choice(others) if others else data
    begin, end = _part(other, draws)
    at = draws.randrange(len(data) + 1)
    return data[:at] + other[begin:end] + data[at:]


def _word(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    """A number or a word of a text by another one."""
    at = draws.randrange(len(data) + 1)
    end = at
    while end < len(data) and data[end] not in b' \t\n,:;"{}[]()=':
        end += 1
    return data[:at] + draws.choice(_WORDS) + data[end:]


def _line(data: bytes, draws: random.Random, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    first, second = draws.randrange(len(lines)), draws.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    if draws.random() < 0.3:
        del lines[first]
    return b"\n".join(lines)


_FAULTS: tuple[Callable[[bytes, random.Random, Sequence[bytes]], bytes], ...] = (
    *(_flip, _number, _number, _cut, _drop, _repeat, _splice, _word, _word, _line),
)
