"""Whether there is a program or process that can be watched."""

from __future__ import annotations

from steelyard.core.errors import (
    UsageError,
)
from steelyard.core.process_state import has_ended
from steelyard.core.program_path import program_path
from steelyard.profile.recording_request import Recording


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
