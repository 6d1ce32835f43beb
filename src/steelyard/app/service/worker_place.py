"""The directory of a worker, which one worker uses at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from steelyard.core.private_file import make_private_directories, private_opener

# What a worker says while it works.
Say = Callable[[str], None]
_PAUSES_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class WorkerPlace:
    """Where a worker keeps its token and results that have not been taken yet."""

    directory: str

    @property
    def outbox(self) -> str:
        """The directory of results."""
        return os.path.join(self.directory, "outbox")

    @property
    def packages(self) -> str:
        """The directory of benchmark packages."""
        return os.path.join(self.directory, "packages")

    @property
    def parts(self) -> str:
        """The directory of what is being run."""
        return os.path.join(self.directory, "parts")

    @property
    def begun(self) -> str:
        """The directory of parts that go on after a boot."""
        return os.path.join(self.directory, "begun")

    @contextmanager
    def held(self, say: Say) -> Iterator[None]:
        """Be the one worker that uses it, and take away what one that was killed left."""
        make_private_directories(self.directory)
        with open(os.path.join(self.directory, "lock"), "ab", opener=private_opener) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"waiting for the worker that uses {self.directory} (--directory) to end")
                fcntl.flock(file, fcntl.LOCK_EX)
            self._remove_parts()
            yield

    def _remove_parts(self) -> None:
        """Processes of a worker that was killed may write there until they have ended too."""
        for pause_s in _PAUSES_S:
            time.sleep(pause_s)
            shutil.rmtree(self.parts, ignore_errors=True)
            if not os.path.lexists(self.parts):
                return

    @property
    def identity(self) -> str:
        """The file with the worker's own token."""
        return os.path.join(self.directory, "worker.json")
