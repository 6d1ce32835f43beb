"""The command that begins each repetition of a user-named level."""

from __future__ import annotations

import time
from collections.abc import Sequence

from steelyard.core.errors import TrialsFailedError
from steelyard.core.levels import RepetitionLevel
from steelyard.core.model import LaunchSpec
from steelyard.measure.program import environment_of

REPETITION_VARIABLE = "STEELYARD_REPETITION"
_SHOWN_BYTES = 4096


def run_level_command(level: RepetitionLevel, index: int, launch: LaunchSpec) -> float:
    """Run the command of `level` for its repetition `index`; the seconds that it took.

    It runs in the environment and directory of the program that `launch` starts, with the index
    in ``STEELYARD_REPETITION``.

    Raises
    ------
    TrialsFailedError
        It cannot be started, or ends with anything but success; the message has its last words.
    """
    import subprocess

    argv: Sequence[str] = level.command or ()
    environment = environment_of(launch)
    environment[REPETITION_VARIABLE.encode()] = b"%d" % index
    started_s = time.monotonic()
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=launch.working_directory,
            check=False,
        )
    except OSError as error:
        raise TrialsFailedError(
            f"The command {' '.join(argv)!r} of {level.name} {index} cannot be started: "
            f"{error.strerror}.",
            field="--level",
        ) from None
    if done.returncode != 0:
        said = done.stdout[-_SHOWN_BYTES:].decode("utf-8", "replace").strip()
        how = f"exit code {done.returncode}" if done.returncode > 0 else "a signal"
        raise TrialsFailedError(
            f"The command {' '.join(argv)!r} of {level.name} {index} ended with {how}: "
            f"{said or '(nothing said)'}",
            field="--level",
        )
    return time.monotonic() - started_s
