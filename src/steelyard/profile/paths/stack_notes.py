"""Recordings in which each thread notes, as it begins, where its stack does."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from steelyard.core.native_program import native_program
from steelyard.core.program_loader import starts_other_loader
from steelyard.profile.recording_request import Recording

_LIBRARY = "libsteelyard-stacks.so"
_ADVICE = "It is there on x86-64; in a checkout, `make native` builds it."


def noting_library() -> str:
    """What a program loads to note where the stacks of its threads begin.

    Raises
    ------
    MissingCapabilityError
        It was not built.
    """
    return native_program(_LIBRARY, "what notes stacks", advice=_ADVICE)


@contextmanager
def noting_stacks(recording: Recording) -> Iterator[Recording]:
    """A recording like the given one, with the stacks of threads.

    A program that is started loads a library which notes them. Of a process that runs already, and
    of a program of another C library than glibc, which cannot load it, the first thread's is read
    from /proc.

    Raises
    ------
    MissingCapabilityError
        The library was not built.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-stacks-") as folder:
        notes = os.path.join(folder, "notes")

        with open(notes, "wb"):
            pass
        environment = dict(recording.environment)
        if recording.process is None and not starts_other_loader(recording.argv):
            library = noting_library()
            before = environment.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", ""))
            environment["LD_PRELOAD"] = f"{library}:{before}" if before else library
            environment["STEELYARD_STACK_NOTES"] = notes
        yield replace(recording, environment=environment, stack_notes=notes)
