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
    """What one or more chunks of samples have."""

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
        self._held = _Found()

    def take(self, is_over: bool = False) -> RawProfile | None:
        """The samples that came since the last call, with all that was told of processes so far;
        None: there are none.

        Parameters
        ----------
        is_over : bool
            The recording has ended: no words follow the last samples any more.
        """
        if self._raw is None and not self._begins():
            return None
        found = _Found()
        for part in parts_of(self._path):
            with suppress(OSError):
                self._take_part(part, found)
        raw = self._raw
        if raw is None:
            return None
        # The words of samples are a chunk of their own, which may be written only after this look.
        if is_over or not _has_words(raw):
            self._release(found)
        if not found.samples:
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
                    self._release(found)
                    take_samples(payload, self._held.samples, self._held.chains)
                    self._held.words.append(np.zeros(len(self._held.samples[-1]), np.uint64))
                elif mark == b"WORD":
                    self._held.words[-1] = words_of(payload, len(self._held.words[-1]))
                    self._release(found)
                elif mark == b"EVNT":
                    take_events(payload, raw)
            end = place + CHUNK_HEAD.size + len(payload)
        raw.damage = None
        self._read_bytes[part] = begin + end

    def _release(self, found: _Found) -> None:
        """Give the last chunk of samples away."""
        held, self._held = self._held, _Found()
        found.samples += held.samples
        found.chains += held.chains
        found.words += held.words


def _has_words(raw: RawProfile) -> bool:
    """Whether each sample of a recording has a word that says what its thread carried."""
    return "marks" in (raw.header.get("path_map") or {})
