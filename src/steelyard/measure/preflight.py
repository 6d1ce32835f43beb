"""What can be said of a program before its first trial: mistakes of the call, not failures."""

from __future__ import annotations

import os

from steelyard.core.errors import UsageError
from steelyard.core.model import LaunchSpec
from steelyard.measure.program import environment_of, find_program


def check_launch(launch: LaunchSpec, *, built: bool = False) -> None:
    """Make sure that the program, its directory, its input and its CPUs are there.

    What lies in the directory of a build, if it is `built`, is not there yet.

    Raises
    ------
    UsageError
        One of them is not; the message names it and the option.
    """
    directory = launch.working_directory
    later = "{build}" if built else None
    if later is not None and later in (directory or ""):
        return
    if directory is not None and not os.path.isdir(directory):
        raise UsageError(
            f"There is no directory {directory!r} to run in. Make it, or name another.",
            field="--directory",
        )
    _check_cpus(launch.cpus)
    if later is None or later not in (launch.stdin_file or ""):
        _check_input(launch.stdin_file)
    if later is not None and later in launch.argv[0]:
        return
    find_program(launch.argv[0], environment_of(launch), directory)


def _check_input(path: str | None) -> None:
    if path is None:
        return
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except OSError as error:
        raise UsageError(
            f"The input {path!r} cannot be read: {error.strerror}.", field="--stdin"
        ) from None
    if os.path.isdir(path):
        raise UsageError(f"The input {path!r} is a directory.", field="--stdin")


def _check_cpus(cpus: tuple[int, ...] | None) -> None:
    allowed = os.sched_getaffinity(0)
    missing = [cpu for cpu in cpus or () if cpu not in allowed]
    if missing:
        listed = ", ".join(str(cpu) for cpu in sorted(allowed))
        raise UsageError(
            f"CPU {missing[0]} is not there to be used. CPUs that are: {listed}.", field="--cpus"
        )
