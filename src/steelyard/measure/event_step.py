"""What is done right before and after a trial whose events are recorded: a program of its own.

The launcher runs it as preparation and clean-up, outside of what is timed, so that nothing reads
or reduces events while a trial runs. It imports little, for it starts twice a trial.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

_LINE = re.compile(r"\s*.{1,16}?-(\d+)\s+\[\d+\]\s+\S+\s+[\d.]+: (\w+)(.*)")
_FIELD = re.compile(r"(\w+)=(\S+)")
_WRITTEN = re.compile(r"# entries-in-buffer/entries-written: (\d+)/(\d+)")
# How a probe is named in the kernel: `probe_` and its number in the order of the specification.
PROBE = "probe_"

# From the end of a trial until its recorder has written what it found.
_LONGEST_END_S = 60.0

# Events that another task may be the one to tell of; `pid` says whose they are.
_TOLD_BY_ANYONE = ("sched_wakeup", "sched_migrate_task")
_KINDS = {
    "sched_process_exec": "program executed",
    "sched_process_fork": "thread or process created",
    "sched_process_exit": "thread or process ended",
    "sched_wakeup": "woken",
    "sched_migrate_task": "moved to another CPU",
    "page_fault_user": "page fault",
    "page_fault_kernel": "page fault inside the kernel",
}


class Reader:
    """Takes the events of one program out of the lines of a trace.

    The program is what is executed first; its threads and children are followed.
    """

    def __init__(self, probes: list[str]) -> None:
        self.lost = 0
        self._probes = probes
        self._own: set[str] = set()
        self._root = ""
        self._ended = False

    def names(self, lines: Iterable[str]) -> Iterator[str]:
        """The kind of each event, in their order."""
        for line in lines:
            match = _LINE.match(line)
            if match is None:
                written = _WRITTEN.match(line)
                if written is not None:
                    self.lost = int(written[2]) - int(written[1])
                continue
            name = self._kind(match[1], match[2], match[3])
            if name:
                yield name
            if self._ended:
                return

    def _kind(self, task: str, event: str, rest: str) -> str:
        """The kind of one event; empty where it is none of the program's."""
        fields = dict(_FIELD.findall(rest))
        if event == "sched_process_exec" and not self._root:
            self._root = task
            self._own.add(task)
            return ""
        whose = fields.get("pid") if event in _TOLD_BY_ANYONE else task
        if whose not in self._own:
            return ""
        if event == "sched_process_fork":
            self._own.add(fields.get("child_pid", ""))
        elif event == "sched_process_exit":
            self._ended = task == self._root
            # What still comes is the kernel's, which buries it, and has no stack.
            self._own.discard(task)
        elif event == "sched_switch":
            preempted = fields.get("prev_state", "").startswith("R")
            return "preempted" if preempted else "waits"
        elif event.startswith("sys_"):
            return f"syscall {event[4:]}"
        elif event.startswith(PROBE):
            return self._probes[int(event[len(PROBE) :])]
        return _KINDS.get(event, "")


def log_names(lines: Iterable[str], pattern: str) -> Iterator[str]:
    """The kinds of the events in the lines of a log; lines that tell of none are left out."""
    if pattern.startswith("json:"):
        path = pattern.removeprefix("json:").split(".")
        for line in lines:
            value = _at(line, path)
            if value is not None:
                yield f"log {value}"
        return
    expression = re.compile(pattern)
    for line in lines:
        match = expression.search(line)
        if match is not None:
            yield f"log {match[1] if expression.groups else match[0]}"


def _at(line: str, path: list[str]) -> Any:
    try:
        value: Any = json.loads(line)
        for part in path:
            value = value[part]
    except (ValueError, KeyError, TypeError):
        return None
    return value


def reduced(names: Iterable[str], most: int) -> dict[str, Any]:
    """Counts of all events by kind, and the order of the first `most` of them."""
    index: dict[str, int] = {}
    counts: list[int] = []
    order: list[int] = []
    for name in names:
        place = index.setdefault(name, len(index))
        if place == len(counts):
            counts.append(0)
        counts[place] += 1
        if len(order) < most:
            order.append(place)
    return {"kinds": list(index), "counts": counts, "order": order, "lost": 0}


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def switch(list_file: str, state: str) -> None:
    """Switch the events on or off whose files are listed."""
    with open(list_file, encoding="utf-8") as file:
        for path in file.read().splitlines():
            _write(path, state)


def start(asked: dict[str, Any]) -> int:
    """The user's own preparation, then the recording."""
    if asked["before"]:
        status = subprocess.run(asked["before"], check=False).returncode
        if status:
            return 1
    if asked["log"]:
        with open(asked["log"], "wb"):
            pass
    instance = asked["instance"]
    if instance:
        _write(f"{instance}/tracing_on", "0")
        _write(f"{instance}/trace", "")
        if asked["stacks"] and not _started(asked["stacks"]):
            return 1
        switch(asked["switches"], "1")
        _write(f"{instance}/set_event_pid", str(os.getppid()))
        _write(f"{instance}/tracing_on", "1")
    return 0


def _started(stacks: dict[str, Any]) -> bool:
    """Whether the recorder of call paths records what the launcher starts next."""
    with suppress(FileNotFoundError):
        os.unlink(stacks["output"])
    if stacks["notes"]:
        # Whoever the program becomes notes its stacks.
        with open(stacks["notes"], "wb"):
            os.chmod(stacks["notes"], 0o666)
    command = [*stacks["command"], "--process", str(os.getppid())]
    # It outlives this step; the launcher ends what is left of it after the trial.
    recorder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    told = b"" if recorder.stdout is None else recorder.stdout.readline()
    _write(_number_file(stacks), str(recorder.pid))
    if told != b"ready\n":
        sys.stderr.write(told.decode(errors="replace"))
    return told == b"ready\n"


def _call_paths(stacks: dict[str, Any]) -> dict[str, Any] | None:
    """What the recorder found, with names; None where it came to nothing."""
    try:
        with open(_number_file(stacks), encoding="utf-8") as file:
            number = int(file.read())
        os.unlink(_number_file(stacks))
        process = os.pidfd_open(number)
        signal.pidfd_send_signal(process, signal.SIGTERM)
        select.select([process], [], [], _LONGEST_END_S)
        told = subprocess.run(stacks["naming"], stdout=subprocess.PIPE, check=True).stdout
        for path in filter(None, (stacks["output"], stacks["notes"])):
            os.unlink(path)
        return {"kinds": stacks["kinds"], **json.loads(told)}
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"The call paths are lost: {error}\n")
        return None


def _number_file(stacks: dict[str, Any]) -> str:
    return f"{stacks['output']}.pid"


def stop(asked: dict[str, Any]) -> int:
    """The end of the recording, what it comes to, then the user's own clean-up."""
    instance, found = asked["instance"], None
    if instance:
        _write(f"{instance}/tracing_on", "0")
        switch(asked["switches"], "0")
        reader = Reader(asked["probes"])
        with open(f"{instance}/trace", encoding="utf-8", errors="replace") as trace:
            found = reduced(reader.names(trace), asked["most"])
        found["lost"] = reader.lost
        if asked["stacks"]:
            found["stacks"] = _call_paths(asked["stacks"])
    if asked["log"]:
        with open(asked["log"], encoding="utf-8", errors="replace") as log:
            found = reduced(log_names(log, asked["pattern"]), asked["most"])
    if found is not None:
        _write(asked["result"], json.dumps(found, separators=(",", ":")))
    if asked["after"]:
        return 1 if subprocess.run(asked["after"], check=False).returncode else 0
    return 0


if __name__ == "__main__":
    step = {"start": start, "stop": stop}[sys.argv[1]]
    raise SystemExit(step(json.loads(sys.argv[2])))
