"""Profilers, ours and others'. One profiler is one file with an `EXTENSION` in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from steelyard.core.decoding import decoding, regular_opener
from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.core.install_hint import install_command
from steelyard.core.registry import Registry

# Recordings of minutes are read in seconds.
TOOL_PATIENCE_S = 300.0

Language = Literal["native", "python", "jvm"]


@dataclass(frozen=True)
class Launch:
    """How a program is run under a profiler.

    Parameters
    ----------
    argv : tuple of str
        The whole command.
    environment : mapping
        What is added to the program's environment; nothing that starts the program may be under
        it, for a profiler that comes in by a variable would profile that too.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Reading:
    """What a profile says.

    Parameters
    ----------
    shares : mapping of str to float
        Each function's own part of the time, or of what the profiler counts instead.
    calls : frozenset of (caller, callee)
        Who was seen to call whom directly; empty where the profiler does not look.
    """

    shares: Mapping[str, float]
    calls: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Profiler:
    """A profiler, as far as its claims can be compared and checked.

    Parameters
    ----------
    name : str
    description : str
        How it looks at a program, in a few words.
    language : str
        Of the programs that it profiles: those of one language can be compared.
    require : callable
        From a program's argv to nothing. Raises `MissingCapabilityError` where the machine lacks
        the profiler, and `UsageError` where the program is none for it.
    launch : callable
        From the file of the profile, a program's argv and a seed for what the profiler draws, if
        it draws anything, to the command that profiles it. The profiler may write to files whose
        names begin with that one's instead; `profile_files`.
    read : callable
        From the file of the profile and the program's argv, which may be empty, to what it says.
        A file that is none of the profiler's is a `DataError` that names it.
    is_program_timed : bool
        False where a program takes so much longer under the profiler that its time says nothing:
        a run without the profiler is timed instead.
    loads_program : bool
        The profiler brings the program into its own process, so that what is changed in the
        memory of a program that the kernel starts would not reach it.
    caution : str
        What a reader of its profiles must know; empty: nothing that others would not say too.
    """

    name: str
    description: str
    language: Language
    require: Callable[[Sequence[str]], None]
    launch: Callable[[str, Sequence[str], int], Launch]
    read: Callable[[str, Sequence[str]], Reading]
    is_program_timed: bool = True
    loads_program: bool = False
    caution: str = ""


def read_profile(profiler: Profiler, path: str, argv: Sequence[str]) -> Reading:
    """What the profile in the file `path` says, of a program that `argv` may name.

    Raises
    ------
    DataError
        The file is none of the profiler's, whatever it is.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise DataError(f"The profile {path} is not a regular file.", field="profile")
    with decoding(f"{path} is not a profile of {profiler.name}, or is damaged", "profile"):
        return profiler.read(path, argv)


PROFILERS: Registry[Profiler] = Registry(
    "profiler", "steelyard.profile.profilers", "steelyard.profilers"
)


def require_program(profiler: str, program: str, package: str) -> None:
    """Refuse to go on without an executable.

    Raises
    ------
    MissingCapabilityError
        `program` is not in the PATH; `package` brings it.
    """
    if shutil.which(program) is None:
        raise MissingCapabilityError(
            f"The profiler {profiler} is not installed: there is no program {program}. "
            f"`{install_command(package)}` installs it.",
            field="--profiler",
        )


def profile_files(path: str, separator: str) -> list[str]:
    """The file `path`, or those that begin with it and go on with `separator`: some profilers add
    the number of each process.

    Raises
    ------
    DataError
        There is none.
    """
    if os.path.exists(path):
        return [path]
    folder, name = os.path.split(path)
    begin = name + separator
    try:
        found = sorted(entry for entry in os.listdir(folder or ".") if entry.startswith(begin))
    except OSError:
        found = []
    if not found:
        raise DataError(f"There is no profile {path}: nothing was written there.", field="profile")
    return [os.path.join(folder, entry) for entry in found]


def profile_bytes(path: str, limit_bytes: int = -1) -> bytes:
    """What a file of a profile holds, or how it begins.

    Raises
    ------
    DataError
        It cannot be read.
    """
    try:
        with open(path, "rb", opener=regular_opener) as file:
            return file.read(limit_bytes)
    except OSError as error:
        raise DataError(
            f"The profile {path} cannot be read: {error.strerror}.", field="profile"
        ) from None


def tool_output(argv: Sequence[str], path: str) -> subprocess.CompletedProcess[bytes]:
    """Have another tool read the profile `path`, which is among `argv`.

    Raises
    ------
    DataError
        It did not end in some minutes.
    """
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TOOL_PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        raise DataError(
            f"`{os.path.basename(argv[0])} {argv[1]}` did not read {path} within "
            f"{TOOL_PATIENCE_S:g} s: the profile is damaged, or too long. Record for a shorter "
            "time.",
            field="profile",
        ) from None


def shares_of(counts: Mapping[str, float], path: str) -> dict[str, float]:
    """Counts as parts of their sum.

    Raises
    ------
    DataError
        The sum is 0, or one of them is no count: negative, NaN, or too large for a number.
    """
    total = sum(counts.values())
    strange = next((name for name in counts if not 0 <= counts[name] <= sys.float_info.max), None)
    if strange is not None or total > sys.float_info.max:
        where = "all together" if strange is None else f"of {strange!r}"
        raise DataError(
            f"The profile {path} is damaged: what it counts {where} is no finite number from 0 on.",
            field="profile",
        )
    if total == 0:
        raise DataError(
            f"The profile {path} has no sample: the program ended before the first.",
            field="profile",
        )
    return {name: count / total for name, count in counts.items() if count}
