"""Recordings of programs with marked calls, which sample their threads themselves.

Registers that the kernel keeps of a sample do not hold the value of a thread, so each thread takes
its own samples, into a ring that the sampler reads. The layout is that of
native/processes/mark_ring.hpp.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from steelyard.core.errors import UsageError
from steelyard.core.native_program import native_program
from steelyard.profile.file.profile_file import RawProfile
from steelyard.profile.recording_request import Recording

# What a profile says of its map where each sample has the value of its thread.
CARRIED = "carried"
# In the place of a value: it is not known.
UNKNOWN = 2**64 - 1
_LIBRARY = "libsteelyard-marks.so"
_ADVICE = "It is there on x86-64; in a checkout, `make native` builds it."
_HEAD = struct.Struct("<QQdQQQQQQQ")
_MAGIC = 0x316B72616D797473
_RECORDS, _RECORD_BYTES = 1 << 16, 64


@contextmanager
def sampling_marks(recording: Recording) -> Iterator[Recording]:
    """A recording like the given one, whose program samples itself.

    Raises
    ------
    UsageError
        It asks for what a program cannot sample of itself.
    MissingCapabilityError
        The library was not built.
    """
    _check(recording)
    with tempfile.TemporaryDirectory(prefix="steelyard-marks-") as folder:
        ring = os.path.join(folder, "ring")
        ratio = 0.0 if recording.spread == "fixed" else recording.ratio
        with open(ring, "wb") as file:
            head = (_MAGIC, int(recording.period_ns), ratio, recording.seed, *[0] * 6)
            file.write(_HEAD.pack(*head))
            file.truncate(_HEAD.size + _RECORDS * _RECORD_BYTES)
        environment = dict(recording.environment)
        library = native_program(_LIBRARY, "what samples marked calls", advice=_ADVICE)
        before = environment.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", ""))
        environment["LD_PRELOAD"] = f"{library}:{before}" if before else library
        environment["STEELYARD_MARKS"] = ring
        yield replace(recording, environment=environment, marks=ring)


def _check(recording: Recording) -> None:
    if recording.process is not None:
        raise UsageError(
            "A program with marked calls is sampled from its start on.\nGive its command after -- "
            "in the place of --pid.",
            field="--pid",
        )
    if recording.spread not in ("uniform", "fixed"):
        raise UsageError(
            f"A program with marked calls samples itself with --spread uniform or fixed, not "
            f"{recording.spread}.",
            field="--spread",
        )
    if recording.event != "cpu-clock":
        raise UsageError(
            f"A program with marked calls samples itself by cpu-clock, not by {recording.event}.",
            field="--event",
        )
    if recording.stacks != "none":
        raise UsageError(
            "A program with marked calls samples itself: no frame of a library is walked.\n"
            "Leave --library-frames and --stacks out.",
            field="--library-frames",
        )


def carried_values(raw: RawProfile) -> npt.NDArray[np.uint64] | None:
    """What the thread of each sample carried, or `UNKNOWN`; None: no sample has it.

    A thread that was once seen on another stack than its own may have left marked calls behind
    there, and has no value that is known.
    """
    if raw.header.get("path_map", {}).get("marks") != CARRIED:
        return None
    values = raw.frame_words.copy()
    for thread in np.unique(raw.samples["thread"][values == np.uint64(UNKNOWN)]):
        values[raw.samples["thread"] == thread] = UNKNOWN
    return values
