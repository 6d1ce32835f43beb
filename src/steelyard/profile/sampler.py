"""Runs the native sampler, which looks at random times where a program is."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Literal

from steelyard.core.errors import (
    MissingCapabilityError,
    RecordingFailedError,
    SteelyardError,
    UsageError,
)
from steelyard.core.native_program import native_program
from steelyard.core.process_state import has_ended, kept_awake
from steelyard.core.program_path import program_path
from steelyard.core.sampled_events import EVERY, SampledEvent, event_names
from steelyard.profile.boot_identity import boot_id
from steelyard.profile.sampler_report import SamplerReport

# What the sampler says where the machine is why it cannot sample.
_OF_THE_MACHINE = ("perf_event_paranoid", "perf_event_open", "use --event", "may be open")

Spread = Literal["uniform", "exponential", "rounds", "fixed"]
# Looks of a round; of copies of stacks those for which the ring has room, and not longer than the
# time between flushes of the file.
_ROUND_SAMPLES, _ROUND_COPIES, _LONGEST_ROUND_NS = 64, 6, 200e6
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
        ``"uniform"``: period times 1 ± `ratio`; ``"exponential"``; ``"rounds"``: a period that is
        drawn anew after some looks, and kept by the kernel between; ``"fixed"``.
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
    stack_notes : str
        Where the program notes the stacks of its threads; empty: it does not.
    program : str
        Walk stacks to the first frame of this file alone; empty: to their end.
    path_map : mapping
        The map of call paths that samples are looked up in: its path, program and build; empty:
        none.
    marks : str
        Where a program with marked calls puts the samples that it takes of itself; empty: it is
        sampled.
    spares : bool
        Walk no stack at a key of the program of `path_map` that is believed, where the kernel can
        tell those before it copies a stack.
    walk_keys : str
        The file of the keys of that program whose stacks are walked, as far as tells their path;
        empty: it is not asked for.
    counted : tuple of SampledEvent
        Events that are taken one by one, in the place of looks at times; empty: looks are.
    every : int
        Of those one of so many is taken.
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
    stack_notes: str = ""
    program: str = ""
    path_map: Mapping[str, str] = field(default_factory=dict[str, str])
    marks: str = ""
    spares: bool = False
    walk_keys: str = ""
    counted: tuple[SampledEvent, ...] = ()
    every: int = 1


def sampler_path() -> str:
    """The installed sampler.

    Raises
    ------
    MissingCapabilityError
        It was not built.
    """
    return native_program("steelyard-sampler", "the sampler", variable="STEELYARD_SAMPLER")


def record(
    recording: Recording,
    say: Callable[[str], None] = lambda _: None,
    begun: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Record until the program ends, and give what the sampler says of itself.

    The program has the standard streams of the caller. Ctrl-C ends the recording, not the answer.

    Parameters
    ----------
    recording : Recording
    say : callable
        Takes a note for the user: that the recording has ended, and the program goes on.
    begun : callable
        Takes the process of a program that is started, once that has begun.

    Raises
    ------
    UsageError, MissingCapabilityError
        There is no such program or process, or the kernel does not let it be watched.
    RecordingFailedError
        The recording ended before the program, by now mostly; what was flushed is in the file.
    """
    check_target(recording)
    read, write = os.pipe()
    sampler: list[subprocess.Popen[bytes]] = []
    report = SamplerReport(begun=begun)

    def hand_on(number: int, _: FrameType | None) -> None:
        # Ctrl-C reaches the sampler by itself, which then ends well.
        for process in sampler:
            if process.poll() is not None:
                report.hand_on(number)
                continue
            if number != signal.SIGINT:
                process.send_signal(number)
            process.send_signal(signal.SIGCONT)  # The program may have stopped it.

    with _handled((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), hand_on):
        with os.fdopen(read, encoding="utf-8", errors="replace") as lines:
            process = subprocess.Popen(
                sampler_argv(recording, write),
                env={**os.environ, **recording.environment},
                pass_fds=(write,),
            )
            sampler.append(process)
            os.close(write)
            with kept_awake(process.pid, say):
                report.take(lines, say)
        try:
            return _summary(recording, report, process.wait(), say)
        finally:
            report.close()


def _summary(
    recording: Recording, report: SamplerReport, status: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """What a sampler that has ended says of itself."""
    if report.error is not None:
        raise _refusal(report.error)
    if report.summary is not None and report.failure is None:
        return report.summary
    if report.summary is not None:
        raise _failure(recording, report.failure or "", report.ending())
    by = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    failure = f"The sampler was ended {by}."
    if report.program is not None and not report.program.has_ended():
        say(f"{failure} The program goes on without being watched.")
    raise _failure(recording, failure, report.outlive(recording.duration_s))


def _failure(recording: Recording, failure: str, ending: str) -> RecordingFailedError:
    shown = shlex.join(("steelyard", "profile", "report", recording.output))
    return RecordingFailedError(
        f"The recording ended early. {failure}\n"
        f"{ending} What it had flushed is in the profile; `{shown}` reads it.\n"
        "--rotate SIZE --keep N bounds the room that a recording takes.",
        field="--output",
    )


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
        if has_ended(leader):
            raise UsageError(
                f"Process {leader} has ended; who started it has not waited for it yet.",
                field="--pid",
            )
        return
    if not recording.argv or not recording.argv[0]:
        raise UsageError("Name a program after --, or a process with --pid.", field="command")
    program_path(recording.argv[0])


def _leader_of(task: int) -> int | None:
    """The process that a task is a thread of, by proc(5); None where it is gone."""
    try:
        with open(f"/proc/{task}/status", encoding="utf-8", errors="replace") as file:
            fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return None
    return int(fields["Tgid"])


def round_samples_of(recording: Recording) -> int:
    """For how many looks a period stays: 1 but for the spread ``"rounds"``."""
    if recording.spread != "rounds":
        return 1
    most = _ROUND_COPIES if recording.stacks == "dwarf" else _ROUND_SAMPLES
    return max(1, min(most, int(_LONGEST_ROUND_NS / recording.period_ns)))


def sampler_argv(recording: Recording, report: int) -> list[str]:
    """The command line of the sampler, which reports on the descriptor `report`."""
    header = json.dumps(
        {
            "id": uuid.uuid4().hex,
            "started_unix_s": time.time(),
            "argv": list(recording.argv),
            "process": recording.process,
            **_when(recording),
            "stacks": recording.stacks,
            "threads_only": recording.threads_only,
            "boot_id": boot_id(),
            **({"path_map": dict(recording.path_map)} if recording.path_map else {}),
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
        "--round-samples": str(round_samples_of(recording)),
        "--seed": str(recording.seed),
        "--stacks": recording.stacks,
        "--scope": "threads" if recording.threads_only else "any",
        "--duration": repr(float(recording.duration_s or 0)),
        "--rotate-bytes": str(recording.rotate_bytes),
        "--keep-files": str(recording.keep_files),
    }
    if recording.program:
        options["--program"] = recording.program
    if recording.stack_notes:
        options["--stack-notes"] = recording.stack_notes
    if recording.marks:
        options["--marks"] = recording.marks
    if recording.word_below_frame_bytes:
        options["--word-below-frame"] = str(recording.word_below_frame_bytes)
    if recording.walk_keys:
        options["--walk-keys"] = recording.walk_keys
    if recording.spares or recording.walk_keys:
        options["--spare-name"] = recording.path_map["program"]
        options["--spare-build"] = recording.path_map["build"]
    if recording.counted:
        options["--every"] = str(recording.every)
    words = [word for pair in options.items() for word in pair]
    words += [word for event in recording.counted for word in ("--count", event.as_word())]
    argv = [sampler_path(), *words]
    if recording.process is not None:
        return [*argv, "--pid", str(recording.process)]
    return [*argv, "--", *recording.argv]


def _when(recording: Recording) -> dict[str, Any]:
    """What the header says of which samples are taken."""
    if recording.counted:
        return {
            "period": recording.every,
            "unit": "events",
            "spread": EVERY,
            "event": event_names(recording.counted),
        }
    return {
        "period": recording.period_ns,
        "unit": "ns" if recording.event == "cpu-clock" else "cycles",
        "spread": recording.spread,
        "round_samples": round_samples_of(recording),
        "ratio": recording.ratio,
        "seed": recording.seed,
        "event": recording.event,
    }


def _refusal(message: str) -> SteelyardError:
    if any(word in message for word in _OF_THE_MACHINE):
        return MissingCapabilityError(message)
    return UsageError(message)
