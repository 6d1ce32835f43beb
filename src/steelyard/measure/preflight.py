"""What can be said of a program before its first trial: mistakes of the call, not failures."""

from __future__ import annotations

import errno
import os
import stat

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.measure.program import environment_of, find_program

_NODES = "/sys/devices/system/node"
# Linux commit 2b5f9dad32ed, "fs/exec: switch timens when a task gets a new mm".
_TIME_NAMESPACE_AT_EXEC = (6, 1)


# Where a program of the suite and its inputs will lie, which a plan does not make.
UNMADE = "{suite}"


def check_launch(launch: LaunchSpec, *, built: bool = False) -> None:
    """Make sure that the program, its directory, its input, its CPUs and what it asks for of the
    kernel are there.

    What lies in the directory of a build, if it is `built`, is not there yet; nor is what a plan
    of a program of the suite names (`UNMADE`).

    Raises
    ------
    UsageError
        One of them is not; the message names it and the option.
    MissingCapabilityError
        This kernel or this user cannot have it so; the message names the factor.
    """
    _check_memory_nodes(launch.memory_nodes)
    _check_clock_shift(launch.clock_shift_s)
    directory = launch.working_directory
    later = ("{build}", UNMADE) if built else (UNMADE,)
    if _is_later(directory, later):
        return
    if directory is not None and not os.path.isdir(directory):
        raise UsageError(
            f"There is no directory {directory!r} to run in. Make it, or name another.",
            field="--directory",
        )
    _check_cpus(launch.cpus)
    if not _is_later(launch.stdin_file, later):
        _check_input(launch.stdin_file)
    if _is_later(launch.argv[0], later):
        return
    find_program(launch.argv[0], environment_of(launch), directory)
    _check_preloaded(dict(launch.environment).get("LD_PRELOAD"), directory)


def _is_later(path: str | None, places: tuple[str, ...]) -> bool:
    return path is not None and any(place in path for place in places)


def _check_memory_nodes(nodes: tuple[int, ...] | None) -> None:
    for node in nodes or ():
        if not os.path.isdir(f"{_NODES}/node{node}"):
            known = sorted(name for name in os.listdir(_NODES) if name[4:].isdigit())
            raise MissingCapabilityError(
                f"The factor numa-node cannot be realised here: there is no node {node}, only "
                f"{', '.join(known)}.",
                field="numa-node",
            )


def _check_clock_shift(shift_s: int | None) -> None:
    if shift_s is None:
        return
    reason = None
    if not os.path.exists("/proc/self/ns/time_for_children"):
        reason = "this kernel has no time namespaces"
    elif _kernel_release() < _TIME_NAMESPACE_AT_EXEC:
        reason = "before Linux 6.1 a program does not enter a time namespace when it is started"
    elif os.geteuid() != 0:
        reason = "only root may make a time namespace"
    if reason is not None:
        raise MissingCapabilityError(
            f"The factor clock-shift cannot be realised here: {reason}.", field="clock-shift"
        )


def _check_preloaded(libraries: str | None, directory: str | None) -> None:
    """ld.so(8) runs a program without a library that it cannot find, and only says so."""
    for library in (libraries or "").replace(":", " ").split():
        if "/" not in library or "{" in library:
            continue
        if not os.path.exists(os.path.join(directory or "", library)):
            raise UsageError(
                f"There is no library {library!r} to preload, and the program would run without "
                "it. Install it, or name another.",
                field="LD_PRELOAD",
            )


def _kernel_release() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int(minor.split("-")[0])


def _check_input(path: str | None) -> None:
    if path is None:
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        told = "it is a socket" if error.errno == errno.ENXIO else error.strerror
        raise UsageError(f"The input {path!r} cannot be read: {told}.", field="--stdin") from None
    mode = os.fstat(descriptor).st_mode
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise UsageError(f"The input {path!r} is a directory.", field="--stdin")
    if stat.S_ISFIFO(mode):
        raise UsageError(
            f"The input {path!r} is a pipe, which the first trial would empty. Name a file.",
            field="--stdin",
        )


def _check_cpus(cpus: tuple[int, ...] | None) -> None:
    allowed = os.sched_getaffinity(0)
    missing = [cpu for cpu in cpus or () if cpu not in allowed]
    if missing:
        listed = ", ".join(str(cpu) for cpu in sorted(allowed))
        raise UsageError(
            f"CPU {missing[0]} is not there to be used. CPUs that are: {listed}.", field="--cpus"
        )
