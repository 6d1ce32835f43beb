"""Functions that can be delayed, and programs in which one of them is."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, UsageError
from steelyard.core.native_program import native_program
from steelyard.profile.delayed_run import DelayedRun
from steelyard.profile.executable import executable_of
from steelyard.profile.profilers import Launch, Profiler
from steelyard.profile.symbols.demangling import function_name, readable_name
from steelyard.profile.symbols.elf_symbols import read_symbols

_END_BRANCH = b"\xf3\x0f\x1e\xfa"
# What the longest delay takes, in native/delayer/src/sled.hpp, and the sled to build with.
_DELAY_BYTES, _SLED_FLAG = 30, 32


@dataclass(frozen=True)
class DelayableFunction:
    """A function with room for a delay at its entry: its name, and its place in the file."""

    name: str
    offset: int


def delayer_path() -> str:
    """The installed delayer.

    Raises
    ------
    MissingCapabilityError
        It was not built, as on machines other than x86-64.
    """
    advice = "It is there on x86-64; in a checkout, `make native` builds it."
    return native_program("steelyard-delayer", "the delayer", advice=advice)


class NativeDelays:
    """A native program, and what makes one of its functions take longer.

    Parameters
    ----------
    argv : sequence of str
        The program with its arguments.
    folder : str
        For files of our own.
    buffer_bytes : int
        What a turn of the delay walks through; 0: it only computes.
    """

    def __init__(self, argv: Sequence[str], folder: str, buffer_bytes: int = 0) -> None:
        self.argv = tuple(argv)
        self.program = executable_of(argv)
        self.buffer_bytes = buffer_bytes
        self._folder = folder
        self.functions = delayable_functions(self.program)

    def launch(self, profiler: Profiler | None, run: DelayedRun) -> Launch:
        """How the program is run with a function delayed, under a profiler or none.

        Raises
        ------
        UsageError
            The profiler loads the program itself, which a delay by memory cannot follow.
        """
        if profiler is not None and profiler.loads_program:
            return self._launch_of_copy(profiler, run)
        place = ["--object", self.program, "--offset", str(self.functions[run.function].offset)]
        how = ["--turns", str(run.turns), "--memory", str(self.buffer_bytes), "--times", run.times]
        if profiler is None:
            return Launch((delayer_path(), *place, *how, "--", *self.argv))
        bare = profiler.launch(run.profile, self.argv, run.seed)
        around = [word for pair in bare.environment.items() for word in ("--set", "=".join(pair))]
        argv = (delayer_path(), *place, *how, *around, "--", *self.argv)
        return Launch(profiler.launch(run.profile, argv, run.seed).argv)

    def _launch_of_copy(self, profiler: Profiler, run: DelayedRun) -> Launch:
        if self.buffer_bytes:
            raise UsageError(
                f"{profiler.name} loads the program itself, which a delay by memory cannot follow. "
                "Leave it out, or use --delay compute.",
                field="--profiler",
            )
        offset = self.functions[run.function].offset
        place = ["--object", self.program, "--offset", str(offset)]
        # Of each delay a copy of its own, since several trials may wait; by a path as long for all.
        folder = os.path.join(self._folder, f"copy-{offset:012x}-{run.turns:010}")
        copy = os.path.join(folder, os.path.basename(self.program))
        os.makedirs(folder, exist_ok=True)
        told = subprocess.run(
            [delayer_path(), *place, "--turns", str(run.turns), "--copy", copy],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if told.returncode != 0:
            raise UsageError(told.stderr.strip(), field="--function")
        return profiler.launch(run.profile, (copy, *self.argv[1:]), run.seed)


def native_program_s(times: str) -> float:
    """The processor time of a program by its file of times, without that of its profiler.

    Raises
    ------
    DataError
        None ran, or it could not be started.
    """
    try:
        with open(times, encoding="ascii") as file:
            user_s, user_us, system_s, system_us = map(int, file.read().split())
    except (OSError, ValueError):
        raise DataError("The program's time is not known: it did not run.") from None
    return user_s + system_s + 1e-6 * (user_us + system_us)


def delayable_functions(program: str) -> dict[str, DelayableFunction]:
    """The functions of a program that were built with a sled, by name.

    Not those of one name that are several, as static ones of several files may be: profilers do not
    tell them apart.

    Raises
    ------
    UsageError
        There is none.
    """
    symbols = read_symbols(program)
    with open(program, "rb", opener=regular_opener) as file:
        code = file.read()
    sleds: dict[str, list[tuple[bytes, int]]] = {}
    for address, name in zip(symbols.addresses, symbols.names, strict=True):
        offset = _file_offset(symbols.segments, int(address))
        if offset is not None and _has_sled(code[offset : offset + 64]):
            sleds.setdefault(function_name(name), []).append((name, offset))
    often = Counter(map(readable_name, symbols.names))
    found: dict[str, DelayableFunction] = {}
    for plain, places in sleds.items():
        # A profile has one row for a function and what the compiler made of it.
        whole = [offset for name, offset in places if readable_name(name) == plain]
        offsets = whole or [offset for _, offset in places]
        if len(offsets) == 1 and often[plain] <= 1:
            found[plain] = DelayableFunction(plain, offsets[0])
    if not found:
        raise UsageError(
            f"No function of {program} has room for a delay. Build it with "
            f"-fpatchable-function-entry={_SLED_FLAG} -fno-ipa-ra, and do not strip it.",
            field="command",
        )
    return found


def _file_offset(segments: Sequence[tuple[int, int, int]], address: int) -> int | None:
    for offset, size, start in segments:
        if start <= address < start + size:
            return address - start + offset
    return None


def _has_sled(entry: bytes) -> bool:
    """Whether no-operations begin a function; the delayer itself looks at all of them."""
    body = entry.removeprefix(_END_BRANCH)
    if body[:1] == b"\x90":
        return body[:_DELAY_BYTES] == b"\x90" * _DELAY_BYTES
    long = body.lstrip(b"\x66\x2e")
    return len(long) < len(body) and long[:2] == b"\x0f\x1f"
