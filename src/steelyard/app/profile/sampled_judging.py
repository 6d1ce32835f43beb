"""Judge a map of call paths by the samples of a run, too."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.paths.path_check import PathCheck
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.sample_check import judged_samples
from steelyard.core.errors import UsageError
from steelyard.core.program_path import program_path
from steelyard.profile.recording_request import Recording

if TYPE_CHECKING:
    from steelyard.analysis.paths.unlearnt_keys import UnlearntKeys
    from steelyard.profile.paths.learning_run import Surroundings

_PERIOD_NS = 500_000.0
_STANDARD_INPUT = 0


def with_samples(
    check: PathCheck,
    taken: PathMap,
    argv: Sequence[str],
    program: str,
    by_code: UnlearntKeys | None = None,
) -> PathCheck:
    """A check with what the map says of samples of a command.

    Parameters
    ----------
    check : PathCheck
        Of the map and of the paths that the command took.
    taken : PathMap
        Those paths.
    argv : sequence of str
    program : str
        The file that the command runs.
    by_code : UnlearntKeys, optional
        Has paths for keys that were never learnt.

    Raises
    ------
    UsageError
        The input of the command is gone, since an earlier run has read it.
    MissingCapabilityError, SteelyardError
        As `app.profile.path_recording.record_paths`.
    """
    from steelyard.app.profile.keyed_samples import profile_keys
    from steelyard.app.profile.path_recording import PathsAsked, record_paths
    from steelyard.profile.paths.map_file import write_map

    _rewind_input()
    with tempfile.TemporaryDirectory(prefix="steelyard-judge-") as folder:
        map_path, profile = os.path.join(folder, "paths"), os.path.join(folder, "profile")
        write_map(taken, map_path)
        recording = Recording(
            output=profile, argv=(program_path(argv[0]), *argv[1:]), period_ns=_PERIOD_NS
        )
        record_paths(
            recording,
            PathsAsked(map_path, library_frames=not taken.marks, program=program),
            _say_nothing,
            False,
        )
        keys, whole = profile_keys(profile, taken, check.learnt.functions)
    return replace(check, samples=judged_samples(check.learnt, taken, keys, whole, by_code))


def apart(argv: Sequence[str], place: Surroundings) -> tuple[str, ...]:
    """A command that runs another one as `Surroundings` say, and shows nothing of it."""
    run = 'cd "$1" && input=$2 && shift 2 && exec "$@" <"$input" >/dev/null 2>&1'
    directory, stdin = place.directory or ".", place.stdin or os.devnull
    before = ("sh", "-c", run, "sh", directory, os.path.abspath(stdin))
    return (*before, program_path(argv[0]), *argv[1:])


def _rewind_input() -> None:
    """Let the next run read the input that an earlier one has read."""
    try:
        mode = os.fstat(_STANDARD_INPUT).st_mode
    except OSError:
        return
    if stat.S_ISREG(mode):
        os.lseek(_STANDARD_INPUT, 0, os.SEEK_SET)
    elif not stat.S_ISCHR(mode):
        raise UsageError(
            "--by-sample runs the command twice, but its input is no file.\n"
            "Give it a file as standard input (< FILE, or < /dev/null).",
            field="--by-sample",
        )


def _say_nothing(_: str) -> None:
    """What the sampler notes for its user is nothing for one who judges."""
