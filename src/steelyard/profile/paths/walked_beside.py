"""A second recording of the same program, which walks stacks at few of the times."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler_command import sampler_argv

# In the place of a map: the recording makes its own.
AUTO = "auto"
# In the place of a map: there is none, and paths are found when the profile is read, if at all.
KEYS = "keys"
# Walked stacks are so much rarer than samples.
WALKED_RATIO = 1 / 8
_SUFFIX = ".stacks"
# The second sampler sees the end of the program within a flush of its file.
_PATIENCE_S = 10


def stacks_path(profile: str) -> str:
    """The profile of the stacks that were walked beside a recording."""
    return profile + _SUFFIX


class _Beside:
    """The sampler that walks stacks, from when the program has begun."""

    def __init__(self, recording: Recording, say: Callable[[str], None]) -> None:
        self._recording = recording
        self._say = say
        self._sampler: subprocess.Popen[bytes] | None = None
        self._report: int | None = None

    def begin(self, process: int) -> None:
        known = self._recording.path_map
        asked = replace(
            self._recording,
            output=stacks_path(self._recording.output),
            argv=(),
            process=process,
            stacks="dwarf",
            threads_only=True,
            program="",
            path_map={name: word for name, word in known.items() if name != "walked"},
            period_ns=self._recording.period_ns / WALKED_RATIO,
            seed=self._recording.seed ^ 1,
            spares=True,
        )
        self._report, write = os.pipe()
        try:
            sampler, *words = sampler_argv(asked, write)
            # Of two that go before others one would wait for the other, and its timers would not.
            argv = [sampler, "--urgency", "ordinary", *words]
            self._sampler = subprocess.Popen(argv, pass_fds=(write,))
        finally:
            os.close(write)

    def end(self) -> None:
        if self._sampler is None or self._report is None:
            return
        try:
            self._sampler.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._sampler.terminate()
            self._sampler.wait()
        with os.fdopen(self._report, encoding="utf-8", errors="replace") as lines:
            told = lines.read().strip()
        if not told.endswith("}"):
            self._say(f"Few stacks may have been walked. {told}")


@contextmanager
def walked_beside(
    recording: Recording, say: Callable[[str], None]
) -> Iterator[Callable[[int], None]]:
    """Gives what is to be called with the process once it has begun.

    Parameters
    ----------
    recording : Recording
        The one of all samples, with the notes of stacks.
    say : callable
        Takes a note for the user.
    """
    beside = _Beside(recording, say)
    try:
        yield beside.begin
    finally:
        beside.end()
