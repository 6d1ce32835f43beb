"""Which file a program is, and which environment and vectors it is started with."""

from __future__ import annotations

import os

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import LaunchSpec

PADDING_VARIABLE = b"STEELYARD_PADDING"
# The kernel's limit for a path, with its final zero byte; limits.h.
PATH_MAX_BYTES = 4096


def environment_of(launch: LaunchSpec) -> dict[bytes, bytes]:
    """The environment of the program: that of the caller with the changes of `launch`.

    The padding is the value of one more variable, so that its size is exact and nothing else
    changes with it.

    Raises
    ------
    UsageError
        A name is empty or has a ``=``, or something holds a zero byte.
    """
    environment = dict(os.environb)
    for name, value in launch.environment:
        key = os.fsencode(name)
        if not key or b"=" in key:
            raise UsageError(f"{name!r} cannot be an environment variable.", field="environment")
        if value is None:
            environment.pop(key, None)
        else:
            environment[key] = os.fsencode(value)
    # A stack that is held has the variable in any case: its pointer takes room on the stack too.
    if launch.environment_padding_bytes or launch.stack_hold_bytes is not None:
        environment[PADDING_VARIABLE] = b"x" * launch.environment_padding_bytes
    return environment


def find_program(name: str, environment: dict[bytes, bytes], directory: str | None) -> bytes:
    """The path of the program `name`: itself where it has a slash, else looked up in ``PATH``.

    The ``PATH`` is that of the program's own environment; what is relative in it is taken from
    the program's working directory.

    Raises
    ------
    UsageError
        There is no such program.
    """
    wanted = os.fsencode(name)
    if not wanted or b"\0" in wanted:
        raise UsageError(f"{name!r} cannot be the name of a program.", field="command")
    start = os.fsencode(directory or "")
    if b"/" in wanted:
        _check_executable(name, os.path.join(start, wanted))
        return wanted
    search = environment.get(b"PATH", os.fsencode(os.defpath))
    for entry in search.split(b":"):
        candidate = os.path.join(entry or b".", wanted)
        found = os.path.join(start, candidate)
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return candidate
    raise UsageError(
        f"There is no program {name!r} in the PATH ({os.fsdecode(search)}). "
        "Name its path, or use --shell for a shell's own commands.",
        field="command",
    )


def _check_executable(name: str, path: bytes) -> None:
    if not os.path.exists(path):
        raise UsageError(f"There is no program {name!r}.", field="command")
    if os.path.isdir(path):
        raise UsageError(f"{name!r} is a directory, not a program.", field="command")
    if not os.access(path, os.X_OK):
        raise UsageError(
            f"{name!r} may not be executed; `chmod +x` it if it is a program.", field="command"
        )


def padded_path(path: bytes, padding_bytes: int) -> bytes:
    """`path` with `padding_bytes` further slashes before its last part, which name the same file.

    The kernel puts the path given to execve at the very top of the stack, so that each byte of
    it moves the start of the stack by one, and neither the arguments nor the environment that
    the program sees change.

    Raises
    ------
    UsageError
        The path would be longer than the kernel takes.
    """
    if not padding_bytes:
        return path
    directory, slash, last = path.rpartition(b"/")
    padded = (directory + slash or b"./") + b"/" * padding_bytes + last
    room = PATH_MAX_BYTES - 1 - len(padded) + padding_bytes
    if padding_bytes < 0 or padding_bytes > room:
        raise UsageError(
            f"A stack padding of {padding_bytes} bytes is not within 0 to {room}. It lengthens "
            f"the program's path, of which the kernel takes {PATH_MAX_BYTES - 1} bytes: hold less, "
            "put the store, beside which builds are made, into a folder with a shorter name "
            "(--store), or pad the environment.",
            field="stack_padding_bytes",
        )
    return padded


def stack_padding_of(launch: LaunchSpec) -> int:
    """The bytes by which the path of the program lowers the start of the stack.

    Raises
    ------
    UsageError
        The environment alone lowers it by more than the place where it is to be held.
    """
    if launch.stack_hold_bytes is None:
        return launch.stack_padding_bytes
    padding = launch.environment_padding_bytes
    room = launch.stack_hold_bytes - padding
    if room < 0:
        raise UsageError(
            f"The start of the stack cannot be held {launch.stack_hold_bytes} bytes lower: the "
            f"environment alone is padded by {padding}. Hold it at that or more.",
            field="stack_hold_bytes",
        )
    return room
