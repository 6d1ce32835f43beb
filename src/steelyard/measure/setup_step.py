"""The command that is run once before the first trial."""

from __future__ import annotations

import os
from collections.abc import Sequence

from steelyard.core.errors import TrialsFailedError
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.core.go_between import run_between
from steelyard.measure.program import environment_of


def run_setup(argv: Sequence[str], launch: LaunchSpec) -> None:
    """Run `argv` in the environment and directory of the program that `launch` starts.

    Its output goes where the caller's errors go, so that it never mixes with the answer.

    Raises
    ------
    TrialsFailedError
        It cannot be started, or it ends with anything but success.
    """
    shown = " ".join(argv)
    try:
        with open(os.devnull, "rb") as nothing:
            code = run_between(
                argv, environment_of(launch), (nothing.fileno(), 2, 2), launch.working_directory
            )
    except OSError as error:
        raise TrialsFailedError(
            f"The set-up {shown!r} cannot be started: {error.strerror}. Nothing was measured.",
            field="--setup",
        ) from None
    if code != 0:
        how = f"exit code {code}" if code > 0 else "a signal"
        raise TrialsFailedError(
            f"The set-up {shown!r} failed with {how}. Nothing was measured.", field="--setup"
        )
