"""A profile that is being recorded, read as it grows."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.profile.file.profile_file import (
    CHUNK_HEAD,
    RawProfile,
    chunks_of,
    order_by_time,
    read_header,
    take_events,
    take_samples,
    words_of,
)
from steelyard.profile.file.profile_parts import MAGIC, parts_of


@dataclass
class _Found:
    """What chunks of samples have that were read at once."""

    samples: list[npt.NDArray[np.void]] = field(default_factory=list[npt.NDArray[np.void]])
    chains: list[npt.NDArray[np.uint64]] = field(default_factory=list[npt.NDArray[np.uint64]])
    words: list[npt.NDArray[np.uint64]] = field(default_factory=list[npt.NDArray[np.uint64]])


class GrowingProfile:
    """What a recording has flushed so far.

    Parameters
    ----------
    path : str
        Made before the recording begins: what the file has of an older one is not read.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._older = self._identity()
        self._raw: RawProfile | None = None
        self._read_bytes: dict[str, int] = {}

    def take(self) -> RawProfile | None:
        """The samples that came since the last call, with all that was told of processes so far;
        None: there are none."""
        if self._raw is None and not self._begins():
            return None
        found = _Found()
        for part in parts_of(self._path):
            with suppress(OSError):
                self._take_part(part, found)
        raw = self._raw
        if raw is None or not found.samples:
            return None
        raw.samples, raw.chains = np.concatenate(found.samples), np.concatenate(found.chains)
        raw.frame_words = np.concatenate(found.words)
        order_by_time(raw)
        return raw

    def _identity(self) -> object:
        """Which recording the file is of; None: there is none."""
        with suppress(DataError):
            return read_header(self._path).get("id")
        return None

    def _begins(self) -> bool:
        identity = self._identity()
        if identity is None or identity == self._older:
            return False
        self._raw = RawProfile(read_header(self._path))
        return True

    def _take_part(self, part: str, found: _Found) -> None:
        raw, begin = self._raw, self._read_bytes.get(part, 0)
        if raw is None:
            return
        with open(part, "rb", opener=regular_opener) as file:
            file.seek(begin)
            data = file.read()
        at = 0
        if begin == 0:
            at = data.find(b"\n", len(MAGIC)) + 1
            if at == 0 or read_header(part).get("id") != raw.header.get("id"):
                return
        end = at
        for place, mark, payload in chunks_of(data, at, raw):
            # What is damaged is told by who reads the whole.
            with suppress(IndexError, ValueError, struct.error):
                if mark == b"SMPL":
                    take_samples(payload, found.samples, found.chains)
                    found.words.append(np.zeros(len(found.samples[-1]), np.uint64))
                elif mark == b"WORD":
                    found.words[-1] = words_of(payload, len(found.words[-1]))
                elif mark == b"EVNT":
                    take_events(payload, raw)
            end = place + CHUNK_HEAD.size + len(payload)
        raw.damage = None
        self._read_bytes[part] = begin + end
