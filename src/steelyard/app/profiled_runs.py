"""Runs of a program under profilers, and what they said."""

from __future__ import annotations

import glob
import os
import resource
import subprocess
from dataclasses import dataclass

from steelyard.core.errors import TrialsFailedError
from steelyard.profile.profilers import Launch, Profiler, Reading


@dataclass(frozen=True)
class ProfiledRuns:
    """Runs commands without input, and throws their output away.

    Parameters
    ----------
    folder : str
        For the profiles, of which each is deleted before the next is written.
    statuses : frozenset of int
        The exit statuses that are no failure: a program may well always end with another than 0.
    """

    folder: str
    statuses: frozenset[int]

    @property
    def path(self) -> str:
        """The file that profilers write to."""
        return os.path.join(self.folder, "profile")

    def clear(self) -> None:
        """Delete what the last profiler wrote."""
        for path in glob.glob(glob.escape(self.path) + "*"):
            os.unlink(path)

    def profile(self, profiler: Profiler, argv: tuple[str, ...]) -> Reading:
        """Run `argv` under a profiler, and read what it says."""
        self.clear()
        self.run(profiler.launch(self.path, argv))
        return profiler.read(self.path, argv)

    def run(self, launch: Launch) -> float:
        """Run a command, and give the processor time of all that it was, in seconds.

        Raises
        ------
        TrialsFailedError
            It ended with another status than it should.
        """
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = subprocess.run(
            launch.argv,
            env={**os.environ, **launch.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if told.returncode not in self.statuses:
            lines = told.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
            # Some put what went wrong first and where it did below.
            said = next((line for line in lines if line.startswith("Error:")), lines[-1])
            raise TrialsFailedError(
                f"A run of {os.path.basename(launch.argv[0])} ended with status "
                f"{told.returncode}: {said[:200]}"
            )
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def usual_statuses(argv: tuple[str, ...]) -> frozenset[int]:
    """How the program ends when nobody watches; 0 is right for a profiler in any case."""
    told = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return frozenset({0, told.returncode})
