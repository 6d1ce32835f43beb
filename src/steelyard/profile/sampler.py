"""Runs the native sampler, which looks at random times where a program is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Literal

from steelyard.core.errors import MissingCapabilityError, SteelyardError, UsageError
from steelyard.core.native_program import native_program

ERROR_MARK = "error: "

Spread = Literal["uniform", "exponential", "fixed"]
Stacks = Literal["none", "frame-pointers", "dwarf"]


@dataclass(frozen=True)
class Recording:
    """What is recorded, and how.

    Parameters
    ----------
    output : str
        The file of the profile.
    argv : tuple of str
        The program that is started, or empty.
    process : int or None
        The process that is watched, where none is started.
    period_ns : float
        Mean time between samples; for the event ``cycles`` their number.
    spread : str
        ``"uniform"``: period times 1 ± `ratio`; ``"exponential"``; ``"fixed"``.
    seed : int
        Of the intervals, 64 bits.
    event : str
        ``"cpu-clock"`` or ``"cycles"``.
    stacks : str
        Call chains that are kept: ``"none"``; ``"frame-pointers"``, as the kernel finds them;
        ``"dwarf"``, by what compilers write for exceptions and debuggers.
    threads_only : bool
        Watch threads even where whole CPUs may be watched.
    duration_s : float or None
        Stop after it; None: with the program.
    rotate_bytes, keep_files : int
        Go on in another file after so many bytes (0: never), and keep so many (0: all).
    word_below_frame_bytes : int
        With each sample keep the word so far below the frame pointer (0: none).
    environment : mapping
        What is added to that of the program.
    """

    output: str
    argv: tuple[str, ...] = ()
    process: int | None = None
    period_ns: float = 1e6
    spread: Spread = "uniform"
    ratio: float = 1.0
    seed: int = 0
    event: Literal["cpu-clock", "cycles"] = "cpu-clock"
    stacks: Stacks = "none"
    threads_only: bool = False
    duration_s: float | None = None
    rotate_bytes: int = 0
    keep_files: int = 0
    word_below_frame_bytes: int = 0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def sampler_path() -> str:
    """The installed sampler.

    Raises
    ------
    MissingCapabilityError
        It was not built.
    """
    return native_program("steelyard-sampler", "the sampler", variable="STEELYARD_SAMPLER")


def record(recording: Recording) -> dict[str, Any]:
    """Record until the program ends, and give what the sampler says of itself.

    The program has the standard streams of the caller. Ctrl-C ends the recording, not the answer.

    Raises
    ------
    UsageError
        There is no such program or process.
    SteelyardError
        The sampler failed; what it had flushed is in the file.
    """
    check_target(recording)
    read, write = os.pipe()
    sampler: list[subprocess.Popen[bytes]] = []

    def hand_on(number: int, _: FrameType | None) -> None:
        # Ctrl-C reaches the sampler by itself, which then ends well.
        if number != signal.SIGINT:
            for process in sampler:
                process.send_signal(number)

    with _handled((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), hand_on):
        with os.fdopen(read, encoding="utf-8", errors="replace") as report:
            process = subprocess.Popen(
                sampler_argv(recording, write),
                env={**os.environ, **recording.environment},
                pass_fds=(write,),
            )
            sampler.append(process)
            os.close(write)
            text = report.read()
        status = process.wait()
    if text.startswith(ERROR_MARK):
        raise _failure(text.removeprefix(ERROR_MARK).strip())
    if status != 0 or not text:
        raise SteelyardError(
            f"The sampler ended with status {status}. What it had flushed is in "
            f"{recording.output}, and `steelyard profile report` reads it."
        )
    return json.loads(text)


@contextmanager
def _handled(
    numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Handle signals, but those that are ignored stay so, as the program is to inherit it."""
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


def check_target(recording: Recording) -> None:
    """Refuse a program or process that is not there, before a file is made."""
    if recording.process is not None:
        leader = _leader_of(recording.process)
        if leader is None:
            raise UsageError(f"There is no process {recording.process}.", field="--pid")
        if leader != recording.process:
            raise UsageError(
                f"{recording.process} is a thread of process {leader}: give --pid {leader}.",
                field="--pid",
            )
        return
    if not recording.argv or not recording.argv[0]:
        raise UsageError("Name a program after --, or a process with --pid.", field="command")
    if shutil.which(recording.argv[0]) is None:
        raise UsageError(f"There is no program {recording.argv[0]!r}.", field="command")


def _leader_of(task: int) -> int | None:
    """The process that a task is a thread of, by proc(5); None where it is gone."""
    try:
        with open(f"/proc/{task}/status", encoding="utf-8", errors="replace") as file:
            fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return None
    return int(fields["Tgid"])


def sampler_argv(recording: Recording, report: int) -> list[str]:
    """The command line of the sampler, which reports on the descriptor `report`."""
    header = json.dumps(
        {
            "id": uuid.uuid4().hex,
            "started_unix_s": time.time(),
            "argv": list(recording.argv),
            "process": recording.process,
            "period": recording.period_ns,
            "unit": "ns" if recording.event == "cpu-clock" else "cycles",
            "spread": recording.spread,
            "ratio": recording.ratio,
            "seed": recording.seed,
            "event": recording.event,
            "stacks": recording.stacks,
        }
    )
    options = {
        "--output": recording.output,
        "--header": header,
        "--report": str(report),
        "--event": recording.event,
        "--period": repr(float(recording.period_ns)),
        "--spread": recording.spread,
        "--ratio": repr(float(recording.ratio)),
        "--seed": str(recording.seed),
        "--stacks": recording.stacks,
        "--scope": "threads" if recording.threads_only else "any",
        "--duration": repr(float(recording.duration_s or 0)),
        "--rotate-bytes": str(recording.rotate_bytes),
        "--keep-files": str(recording.keep_files),
    }
    if recording.word_below_frame_bytes:
        options["--word-below-frame"] = str(recording.word_below_frame_bytes)
    argv = [sampler_path(), *(word for pair in options.items() for word in pair)]
    if recording.process is not None:
        return [*argv, "--pid", str(recording.process)]
    return [*argv, "--", *recording.argv]


def _failure(message: str) -> SteelyardError:
    if "perf_event_paranoid" in message or "use --event" in message:
        return MissingCapabilityError(message)
    return UsageError(message)


def command_words(argv: Sequence[str]) -> str:
    """A command as one line, for people."""
    import shlex

    return shlex.join(argv)
