"""The command that is run once before the first trial."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.errors import TrialsFailedError
from steelyard.core.model import LaunchSpec
from steelyard.measure.program import environment_of


def run_setup(argv: Sequence[str], launch: LaunchSpec) -> None:
    """Run `argv` in the environment and directory of the program that `launch` starts.

    Its output goes where the caller's errors go, so that it never mixes with the answer.

    Raises
    ------
    TrialsFailedError
        It cannot be started, or it ends with anything but success.
    """
    import subprocess

    shown = " ".join(argv)
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=2,
            env=environment_of(launch),
            cwd=launch.working_directory,
            check=False,
        )
    except OSError as error:
        raise TrialsFailedError(
            f"The set-up {shown!r} cannot be started: {error.strerror}. Nothing was measured.",
            field="--setup",
        ) from None
    if done.returncode != 0:
        how = f"exit code {done.returncode}" if done.returncode > 0 else "a signal"
        raise TrialsFailedError(
            f"The set-up {shown!r} failed with {how}. Nothing was measured.", field="--setup"
        )
