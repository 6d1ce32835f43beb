"""Reading the sampler's files. The format is described in native/sampler/src/profile_file.hpp.

Each chunk has its own check, so that a file which was cut off is readable up to its last flush.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.profile.file.profile_facts import header_of, summary_of
from steelyard.profile.file.profile_parts import MAGIC, parts_of

CHUNK_HEAD = struct.Struct("<4sII")
SAMPLE = np.dtype(
    [
        ("time_ns", "<u8"),
        ("process", "<u4"),
        ("thread", "<u4"),
        ("cpu", "<u2"),
        ("in_kernel", "u1"),
        ("address", "<u8"),
        ("user_address", "<u8"),
        ("stack_pointer", "<u8"),
        ("base_pointer", "<u8"),
        ("chain_length", "<u2"),
    ]
)
_MAPPING = struct.Struct("<QIQQQ")
_NAME = struct.Struct("<QIIB")
_START = struct.Struct("<QIIII")
_END = struct.Struct("<QII")
_BASE = struct.Struct("<QIIQ")
_LOST = struct.Struct("<QQ")
_INODE = struct.Struct("<Q")
_TEXT = struct.Struct("<H")
_LAST_ADDRESS = 2**64 - 1
# Longer than the arguments of a program (execve(2)) as JSON.
_LONGEST_HEADER_BYTES = 1 << 25


@dataclass(frozen=True)
class Mapping:
    """An executable part of a file in the memory of a process, from `time_ns` on.

    `build_id` (hexadecimal) and `inode` say which file that was: empty and 0 where nobody knows.
    """

    time_ns: int
    process: int
    start: int
    length: int
    offset: int
    path: str
    inode: int = 0
    build_id: str = ""


@dataclass(frozen=True)
class Naming:
    """A thread has this name from `time_ns` on; `after_exec`: its process runs another program."""

    time_ns: int
    process: int
    thread: int
    after_exec: bool
    name: str


@dataclass(frozen=True)
class Start:
    """A thread, or a process where the parent is another one, began."""

    time_ns: int
    process: int
    thread: int
    parent_process: int
    parent_thread: int


@dataclass(frozen=True)
class StackBase:
    """The stack of a thread begins at `address`, from `time_ns` on."""

    time_ns: int
    process: int
    thread: int
    address: int


@dataclass
class RawProfile:
    """What the files of one profile hold, in the order of time.

    Parameters
    ----------
    header : dict
        How it was recorded.
    samples : structured array of `SAMPLE`
    chains : array of uint64
        The call chains of the samples, one after the other.
    frame_words : array of uint64
        For each sample the word of its frame that was asked for; 0 where none was.
    mappings, names, starts, bases : list
    lost_count : int
        Samples that the kernel had to drop.
    summary : dict or None
        What the sampler says of itself, or had said last before it was cut off; None: nothing.
    damage : str or None
        What is wrong with the end of the file, for a person.
    """

    header: dict[str, Any]
    samples: npt.NDArray[np.void] = field(default_factory=lambda: np.empty(0, SAMPLE))
    chains: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    frame_words: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    mappings: list[Mapping] = field(default_factory=list[Mapping])
    names: list[Naming] = field(default_factory=list[Naming])
    starts: list[Start] = field(default_factory=list[Start])
    bases: list[StackBase] = field(default_factory=list[StackBase])
    lost_count: int = 0
    summary: dict[str, Any] | None = None
    damage: str | None = None


def read_profile(path: str) -> RawProfile:
    """Read a profile with all files that it was continued in.

    Raises
    ------
    DataError
        The file cannot be read, or is not a profile.
    """
    raw: RawProfile | None = None
    samples: list[npt.NDArray[np.void]] = []
    chains: list[npt.NDArray[np.uint64]] = []
    words: list[npt.NDArray[np.uint64]] = []
    for part in parts_of(path):
        data = _read(part)
        header, at = _header(data, part)
        raw = raw or RawProfile(header)
        if header.get("id") != raw.header.get("id"):
            continue  # of an older recording to the same file
        for place, mark, payload in chunks_of(data, at, raw):
            try:
                if mark == b"SMPL":
                    take_samples(payload, samples, chains)
                    words.append(np.zeros(len(samples[-1]), np.uint64))
                elif mark == b"WORD":
                    words[-1] = words_of(payload, len(words[-1]))
                else:
                    take_events(payload, raw)
            except (IndexError, ValueError, struct.error) as error:
                raw.damage = (
                    f"The file is damaged at byte {place}: {error}. What stands before is here."
                )
                break
    if raw is None:
        raise DataError(f"There is no profile {path}.", field="profile")
    if samples:
        raw.samples = np.concatenate(samples)
        raw.chains = np.concatenate(chains)
        raw.frame_words = np.concatenate(words)
        order_by_time(raw)
    is_whole = raw.summary is not None and not raw.summary.get("interim")
    if not is_whole and raw.damage is None:
        raw.damage = "The recording was cut off; what it had flushed is here."
    return raw


def read_header(path: str) -> dict[str, Any]:
    """How a profile was recorded.

    Raises
    ------
    DataError
        It cannot be read, or is not a profile.
    """
    part = parts_of(path)[0]
    return _header(_read(part, _LONGEST_HEADER_BYTES), part)[0]


def _read(path: str, most_bytes: int = -1) -> bytes:
    try:
        with open(path, "rb", opener=regular_opener) as file:
            return file.read(most_bytes)
    except OSError as error:
        raise DataError(
            f"The profile {path} cannot be read: {error.strerror}.", field="profile"
        ) from None


def _header(data: bytes, path: str) -> tuple[dict[str, Any], int]:
    end = data.find(b"\n", len(MAGIC))
    if not data.startswith(MAGIC) or end < 0:
        raise DataError(
            f"{path} is not a profile of `steelyard profile record`: it does not begin with "
            f"{MAGIC.strip().decode()!r}.",
            field="profile",
        )
    try:
        header = header_of(data[len(MAGIC) : end])
    except ValueError as error:
        raise DataError(
            f"The header of the profile {path} is damaged: {error}.", field="profile"
        ) from None
    return header, end + 1


def chunks_of(data: bytes, at: int, raw: RawProfile) -> Iterator[tuple[int, bytes, bytes]]:
    """Where each whole chunk begins, its mark and its payload; what is wrong with the rest goes to
    `raw.damage`."""
    while at < len(data):
        if at + CHUNK_HEAD.size > len(data):
            raw.damage = "The file ends inside a chunk; what was flushed before is here."
            return
        mark, length, checksum = CHUNK_HEAD.unpack_from(data, at)
        payload = data[at + CHUNK_HEAD.size : at + CHUNK_HEAD.size + length]
        if len(payload) < length:
            raw.damage = "The file ends inside a chunk; what was flushed before is here."
            return
        if mark not in (b"SMPL", b"WORD", b"EVNT") or zlib.crc32(payload) != checksum:
            raw.damage = f"The file is damaged at byte {at}; what stands before is here."
            return
        yield at, mark, payload
        at += CHUNK_HEAD.size + length


def take_samples(
    payload: bytes,
    samples: list[npt.NDArray[np.void]],
    chains: list[npt.NDArray[np.uint64]],
) -> None:
    """Add the samples of a chunk, and their call chains.

    Raises
    ------
    ValueError
        They are not as the chunk says.
    """
    count = int.from_bytes(payload[:4], "little")
    end = 4 + count * SAMPLE.itemsize
    if len(payload) < max(end, 4):
        raise ValueError(f"{count} samples do not fit into their chunk")
    found = np.frombuffer(payload, SAMPLE, count, 4)
    length = int(found["chain_length"].sum(dtype=np.int64))
    if len(payload) != end + 8 * length:
        raise ValueError("the call chains are not as long as its samples say")
    if np.any((found["process"] != 0) & (found["thread"] == 0)):
        raise ValueError("a sample of a process has no thread")
    if np.any((found["process"] == 0) & (found["chain_length"] != 0)):
        raise ValueError("a look at another program has a call chain")
    samples.append(found)
    chains.append(np.frombuffer(payload, "<u8", length, end))


def words_of(payload: bytes, count: int) -> npt.NDArray[np.uint64]:
    """A word for each of the samples of the chunk before.

    Raises
    ------
    ValueError
        There are more or fewer.
    """
    if len(payload) != 8 * count:
        raise ValueError("there is not one word for each sample")
    return np.frombuffer(payload, "<u8")


def take_events(payload: bytes, raw: RawProfile) -> None:
    """Add the records of a chunk.

    Raises
    ------
    ValueError, IndexError, struct.error
        One is none.
    """
    at = 0
    while at < len(payload):
        kind, at = payload[at : at + 1], at + 1
        if kind == b"M":
            values, at = _MAPPING.unpack_from(payload, at), at + _MAPPING.size
            path, at = _text(payload, at)
            time_ns, process, start, length, offset = values
            if start + length > _LAST_ADDRESS:
                raise ValueError("a mapping goes on behind the last address")
            raw.mappings.append(Mapping(time_ns, process, start, length, offset, path))
        elif kind == b"I":
            (inode,), at = _INODE.unpack_from(payload, at), at + _INODE.size
            (size,) = _TEXT.unpack_from(payload, at)
            at += _TEXT.size + size
            if not raw.mappings or at > len(payload):
                raise ValueError("an identity is that of no mapping")
            build_id = payload[at - size : at].hex()
            raw.mappings[-1] = replace(raw.mappings[-1], inode=inode, build_id=build_id)
        elif kind == b"C":
            (time_ns, process, thread, after), at = (
                _NAME.unpack_from(payload, at),
                at + _NAME.size,
            )
            name, at = _text(payload, at)
            raw.names.append(Naming(time_ns, process, thread, bool(after), name))
        elif kind == b"F":
            raw.starts.append(Start(*_START.unpack_from(payload, at)))
            at += _START.size
        elif kind == b"B":
            raw.bases.append(StackBase(*_BASE.unpack_from(payload, at)))
            at += _BASE.size
        elif kind == b"X":
            _END.unpack_from(payload, at)
            at += _END.size
        elif kind == b"L":
            raw.lost_count += _LOST.unpack_from(payload, at)[1]
            at += _LOST.size
        elif kind == b"E":
            text, at = _text(payload, at)
            raw.summary = summary_of(text)
        else:
            raise ValueError(f"a record is of the unknown kind {kind!r}")


def _text(payload: bytes, at: int) -> tuple[str, int]:
    """A text, and where it ends. The kernel's end with the first NUL, so that they have none."""
    (length,) = _TEXT.unpack_from(payload, at)
    begin = at + _TEXT.size
    text = payload[begin : begin + length]
    if len(text) < length or b"\0" in text:
        raise ValueError("a text goes on behind its end")
    return text.decode("utf-8", "surrogateescape"), begin + length


def order_by_time(raw: RawProfile) -> None:
    """CPUs hand their samples over on their own, so a file is only roughly in order."""
    order = np.argsort(raw.samples["time_ns"], kind="stable")
    lengths = raw.samples["chain_length"].astype(np.int64)
    if lengths.any():
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        raw.chains = np.concatenate(
            [raw.chains[starts[index] : starts[index] + lengths[index]] for index in order]
        )
    raw.samples = raw.samples[order]
    raw.frame_words = raw.frame_words[order]
    for happenings in (raw.mappings, raw.names, raw.starts, raw.bases):
        happenings.sort(key=lambda happening: happening.time_ns)
