"""Runs of a program under profilers, and what they said."""

from __future__ import annotations

import glob
import itertools
import os
import resource
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.go_between import run_between
from steelyard.core.rng import derive_seed
from steelyard.profile.profilers import Launch, Profiler, Reading, read_profile

# What gperftools says behind all that a program did, however that ended.
_OF_GPERFTOOLS = "PROFILE: "
# Of a command, or of what one said, so much is shown.
_SHOWN = 200


@dataclass(frozen=True)
class ProfiledRuns:
    """Runs a program without input, and throws its output away.

    Parameters
    ----------
    argv : tuple of str
        The program's command, as messages name it.
    folder : str
        For the profiles, of which each is deleted before the next is written.
    statuses : frozenset of int
        The exit statuses that are no failure: a program may well always end with another than 0.
    seed : int
        Of what profilers draw.
    """

    argv: tuple[str, ...]
    folder: str
    statuses: frozenset[int]
    seed: int
    _drawn: Iterator[int] = field(default_factory=itertools.count)

    def draw_seed(self) -> int:
        """A seed of its own for each run: with the same times in all, runs would differ by less
        than looks at random times do."""
        return derive_seed(self.seed, "run", next(self._drawn))

    @property
    def path(self) -> str:
        """The file that profilers write to."""
        return os.path.join(self.folder, "profile")

    def clear(self) -> None:
        """Delete what the last profiler wrote."""
        for path in glob.glob(glob.escape(self.path) + "*"):
            os.unlink(path)

    def profile(self, profiler: Profiler) -> Reading:
        """Run the program under a profiler, and read what it says."""
        self.clear()
        self.run(profiler.launch(self.path, self.argv, self.draw_seed()))
        return read_profile(profiler, self.path, self.argv)

    def run(self, launch: Launch) -> float:
        """Run the program as `launch` says; give the processor time of all that it was, in seconds.

        Raises
        ------
        TrialsFailedError
            It ended with another status than it should.
        """
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = _told(launch.argv, launch.environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if told.returncode not in self.statuses:
            under = launch.argv[0]
            by = "" if under == self.argv[0] else f" under {os.path.basename(under)}"
            raise TrialsFailedError(f"A run of {_shown(self.argv)}{by} {_end_of(told)}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def program_runs(argv: tuple[str, ...], folder: str, seed: int) -> ProfiledRuns:
    """Runs of a program that should end as it does when nobody watches.

    Raises
    ------
    UsageError, TrialsFailedError
        It cannot be started, or a signal ends it.
    """
    told = _usual_end(argv)
    return ProfiledRuns(argv, folder, _right_statuses(told), seed)


def runs_of_builds(
    first: tuple[str, ...], others: Sequence[tuple[str, ...]], folder: str, seed: int
) -> dict[tuple[str, ...], ProfiledRuns]:
    """Runs of builds of one program: all should end as the first does when nobody watches.

    Raises
    ------
    UsageError, TrialsFailedError
        One cannot be started, a signal ends it, or it ends with another status.
    """
    right = _usual_end(first)
    for argv in others:
        told = right if argv == first else _usual_end(argv)
        if told.returncode != right.returncode:
            raise TrialsFailedError(
                f"{_shown(argv)} {_end_of(told).rstrip('.')}. {_shown(first)} ends with status "
                f"{right.returncode}: builds that are compared must do the same."
            )
    statuses = _right_statuses(right)
    return {
        argv: ProfiledRuns(argv, folder, statuses, derive_seed(seed, number))
        for number, argv in enumerate((first, *others))
    }


def _right_statuses(told: subprocess.CompletedProcess[bytes]) -> frozenset[int]:
    """That of the program; 0 is right for a profiler in any case."""
    return frozenset({0, told.returncode})


def _usual_end(argv: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    told = _told(argv, {})
    if told.returncode < 0:
        raise TrialsFailedError(
            f"{_shown(argv)} {_end_of(told).rstrip('.')}. Profile one that ends by itself."
        )
    return told


def _told(
    argv: tuple[str, ...], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    # Through a pipe, what a program leaves behind would be waited for.
    with tempfile.TemporaryFile() as errors:
        try:
            with open(os.devnull, "r+b", buffering=0) as null:
                status = run_between(
                    argv,
                    {**os.environ, **environment},
                    (null.fileno(), null.fileno(), errors.fileno()),
                    as_session=True,  # A program goes on where its profiler alone is killed.
                )
        except OSError as error:
            reason = f"{argv[0]} cannot be run: {error.strerror}."
            raise UsageError(reason, field="command") from None
        errors.seek(0)
        return subprocess.CompletedProcess(argv, status, b"", errors.read())


def _shown(argv: Sequence[str]) -> str:
    return f"`{shlex.join(argv)[:_SHOWN]}`"


def _end_of(told: subprocess.CompletedProcess[bytes]) -> str:
    """How a run ended, and what it said last; some say first what went wrong, and then where."""
    said_all = told.stderr.decode("utf-8", "replace").strip().splitlines()
    lines = [line for line in said_all if not line.startswith(_OF_GPERFTOOLS)] or ["no message"]
    said = next((line for line in lines if line.startswith("Error:")), lines[-1])[:_SHOWN]
    if told.returncode < 0:
        return f"was ended by signal {_signal_name(-told.returncode)}: {said}"
    return f"ended with status {told.returncode}: {said}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Real-time signals but the first and the last have no name.
        return str(number)
