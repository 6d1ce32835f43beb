"""Runs the native sampler, which looks at random times where a program is."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from steelyard.core.errors import (
    MissingCapabilityError,
    RecordingFailedError,
    SteelyardError,
    UsageError,
)
from steelyard.core.process_state import kept_awake
from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler_command import sampler_argv
from steelyard.profile.sampler_report import SamplerReport
from steelyard.profile.watched_target import check_target

# What the sampler says where the machine is why it cannot sample.
_OF_THE_MACHINE = ("perf_event_paranoid", "perf_event_open", "use --event", "may be open")


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


def _refusal(message: str) -> SteelyardError:
    if any(word in message for word in _OF_THE_MACHINE):
        return MissingCapabilityError(message)
    return UsageError(message)
