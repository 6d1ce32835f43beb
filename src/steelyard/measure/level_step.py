"""The command that begins each repetition of a user-named level."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from typing import IO

from steelyard.core.errors import TrialsFailedError
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.core.go_between import run_between
from steelyard.core.repetition import RepetitionLevel
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
    argv: Sequence[str] = level.command or ()
    environment = environment_of(launch)
    environment[REPETITION_VARIABLE.encode()] = b"%d" % index
    started_s = time.monotonic()
    # Through a pipe, what the command leaves running would be waited for.
    with tempfile.TemporaryFile() as output, open(os.devnull, "rb") as nothing:
        streams = (nothing.fileno(), output.fileno(), output.fileno())
        try:
            code = run_between(argv, environment, streams, launch.working_directory)
        except OSError as error:
            raise TrialsFailedError(
                f"The command {' '.join(argv)!r} of {level.name} {index} cannot be started: "
                f"{error.strerror}.",
                field="--level",
            ) from None
        cost_s = time.monotonic() - started_s
        if code != 0:
            how = f"exit code {code}" if code > 0 else "a signal"
            raise TrialsFailedError(
                f"The command {' '.join(argv)!r} of {level.name} {index} ended with {how}: "
                f"{_last_words(output) or '(nothing said)'}",
                field="--level",
            )
    return cost_s


def _last_words(output: IO[bytes]) -> str:
    output.seek(max(0, output.seek(0, os.SEEK_END) - _SHOWN_BYTES))
    return output.read().decode("utf-8", "replace").strip()
