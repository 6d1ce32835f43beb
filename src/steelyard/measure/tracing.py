"""Recording what happens inside programs by the kernel's own tracing, without touching them.

An instance of tracefs has a buffer and events of its own, so that other tracing on the machine
goes on beside it. It follows the launcher's children; they are started and timed as ever.
"""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from steelyard.core.errors import HostError
from steelyard.core.events_spec import EventsSpec
from steelyard.core.experiment_spec import Variant
from steelyard.core.program_loader import starts_other_loader
from steelyard.measure import event_step
from steelyard.measure.recordable_events import GROUPS, ROOT, check_tracing

# Events whose stack is that of the program: the kind, and what the kernel is told to leave out. A
# task that may run on is at state 0, or, preempted, at the bit behind all others.
_STACKS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "sched": (
        ("waits", "sched/sched_switch", "prev_state != 0 && prev_state != 256"),
        ("preempted", "sched/sched_switch", "prev_state == 0 || prev_state == 256"),
    ),
    "threads": (("thread or process created", "sched/sched_process_fork", ""),),
    "faults": (("page fault", "exceptions/page_fault_user", ""),),
}
# Copying the end of a stack makes some by itself.
_NOT_BESIDE_STACKS = "page_fault_kernel"
# What tells whose events they are; recorded in any case.
_ALWAYS = ("sched/sched_process_exec", "sched/sched_process_fork", "sched/sched_process_exit")
_BUFFER_KB = 8192
_PREFIX = "steelyard"
_STACK_PROBE = "stack_"


@dataclass(frozen=True)
class StackPrograms:
    """What records call paths, and the command that names the functions in a file of its.

    With `path_map` registers alone are recorded, and looked up in it; programs load `noting`, which
    tells where the stacks of their threads begin.
    """

    recorder: str
    naming: tuple[str, ...]
    path_map: str | None = None
    noting: str = ""


def stack_events(events: EventsSpec) -> list[tuple[str, tuple[str, str]]]:
    """The kinds of the kernel's events that are recorded with their stacks, and the option by which
    the recorder is told of each."""
    found: list[tuple[str, tuple[str, str]]] = []
    for group in events.groups:
        for kind, name, leave_out in _STACKS.get(group, ()):
            number = _event_number(name)
            told = f"{number}:{leave_out}" if leave_out else number
            found.append((kind, ("--event", told)))
    return found


def _event_number(name: str) -> str:
    with open(os.path.join(ROOT, "events", name, "id"), encoding="utf-8") as file:
        return file.read().strip()


class Tracing:
    """Events of the trials of one variant. A context manager: leaving it removes what it made.

    Parameters
    ----------
    events : EventsSpec
    directory : str
        For what the steps hand over.
    stacks : StackPrograms, optional
        Where call paths are recorded too.
    """

    def __init__(
        self, events: EventsSpec, directory: str, stacks: StackPrograms | None = None
    ) -> None:
        self._events = events
        self._directory = directory
        self._stacks = stacks
        self._copies = stacks is not None and stacks.path_map is None
        self._with_stacks: list[tuple[str, tuple[str, str]]] = []
        self._traces = bool(events.groups or events.probes)
        self._instance = os.path.join(ROOT, "instances", f"{_PREFIX}-{os.getpid()}")
        self._group = f"{_PREFIX}_{os.getpid()}"
        self._switches = os.path.join(os.path.abspath(directory), "events.switches")

    def __enter__(self) -> Tracing:
        check_tracing(self._events)
        if self._traces:
            try:
                self._set_up()
            except OSError as error:
                self._remove()
                raise HostError(
                    f"The kernel refused to record events: {error.strerror} ({error.filename}). "
                    "Nothing was measured.",
                    field="--record",
                ) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._traces:
            self._remove()

    def variant_for(self, variant: Variant, position: int) -> Variant:
        """`variant` with the steps that record the trial at `position`."""
        events = self._events
        asked = {
            "instance": self._instance if self._traces else "",
            "switches": self._switches,
            "log": events.log if events.log != "-" else None,
            "pattern": events.pattern,
            "most": events.most,
            "probes": [probe[0] for probe in events.probes],
            "result": events_file(self._directory, position),
            "before": variant.prepare,
            "after": variant.cleanup,
            "stacks": self._recording(position),
        }
        words = json.dumps(asked)
        step = (sys.executable, "-I", "-S", event_step.__file__)
        found = replace(variant, prepare=(*step, "start", words), cleanup=(*step, "stop", words))
        if self._stacks is None or self._stacks.path_map is None:
            return found
        # Of another C library's program the first thread's stack is known by /proc alone.
        if starts_other_loader(variant.launch.argv, variant.launch.working_directory):
            return found
        return _noting(found, self._stacks.noting, self._notes(position))

    def _notes(self, position: int) -> str:
        return f"{events_file(self._directory, position)}.notes"

    def _recording(self, position: int) -> dict[str, Any] | None:
        """How call paths are recorded in the trial at `position`."""
        if self._stacks is None:
            return None
        events = [word for _, option in self._with_stacks for word in option]
        output = f"{events_file(self._directory, position)}.stacks"
        naming = [*self._stacks.naming, output, os.path.join(self._directory, "functions")]
        notes = None
        if self._stacks.path_map is not None:
            notes = self._notes(position)
            events = ["--notes", notes, *events]
            naming.append(self._stacks.path_map)
        return {
            "command": [self._stacks.recorder, "--output", output, *events],
            "kinds": [kind for kind, _ in self._with_stacks],
            "naming": naming,
            "output": output,
            "notes": notes,
        }

    def _set_up(self) -> None:
        self._forget_killed()
        for number, (_, file, offset, semaphore) in enumerate(self._events.probes):
            place = f"{file}:0x{offset:x}" + (f"(0x{semaphore:x})" if semaphore else "")
            # The kernel keeps a probe for traces apart from one for stacks, at the same place.
            for name in (event_step.PROBE, *([_STACK_PROBE] if self._stacks else [])):
                line = f"p:{self._group}/{name}{number} {place}\n"
                _append(os.path.join(ROOT, "uprobe_events"), line)
        if self._stacks is not None:
            self._with_stacks = stack_events(self._events) + [
                (name, ("--probe", _event_number(f"{self._group}/{_STACK_PROBE}{number}")))
                for number, (name, *_) in enumerate(self._events.probes)
            ]
        os.mkdir(self._instance)
        self._write("tracing_on", "0")
        self._write("buffer_size_kb", str(_BUFFER_KB))
        self._write("trace_clock", "mono")
        self._write("options/event-fork", "1")
        wanted = [*_ALWAYS, *(name for group in self._events.groups for name in GROUPS[group])]
        if self._events.probes:
            wanted.append(f"{self._group}/{event_step.PROBE}*")
        switches = [
            path
            for pattern in dict.fromkeys(wanted)
            for path in glob.glob(os.path.join(self._instance, "events", pattern, "enable"))
            if not self._copies or _NOT_BESIDE_STACKS not in path
        ]
        # A probe costs whoever comes by, so that all are on in recorded trials alone. What the
        # kernel refuses is to be known before the first.
        _write(self._switches, "\n".join(switches))
        for state in "10":
            event_step.switch(self._switches, state)

    def _write(self, name: str, text: str) -> None:
        _write(os.path.join(self._instance, name), text)

    def _remove(self) -> None:
        _remove_instance(self._instance, self._group)

    def _forget_killed(self) -> None:
        """Remove what killed processes left, by their numbers in its names."""
        for path in glob.glob(os.path.join(ROOT, "instances", f"{_PREFIX}-*")):
            process = path.rpartition("-")[2]
            if not os.path.exists(f"/proc/{process}"):
                _remove_instance(path, f"{_PREFIX}_{process}")


def found_events(
    events: EventsSpec, directory: str | None, record: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What was recorded of a trial; None where nothing was, or it is lost.

    Parameters
    ----------
    directory : str, optional
        Where the steps of the trial handed it over.
    record : mapping
        The launcher's, with the path of the kept output.
    """
    output = record.get("output")
    if events.log == "-" and events.pattern is not None and output is not None:
        path = os.fsencode(output)
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as log:
            return event_step.reduced(event_step.log_names(log, events.pattern), events.most)
    if directory is None:
        return None
    try:
        with open(events_file(directory, record["trial"]), encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
            return found
    except (OSError, ValueError):
        return None


def events_file(directory: str, position: int) -> str:
    """Where the steps of a trial hand over what they recorded."""
    return os.path.join(os.path.abspath(directory), f"{position}.events")


def _noting(variant: Variant, library: str, notes: str) -> Variant:
    """`variant` whose program notes the stacks of its threads."""
    environment = dict(variant.launch.environment)
    before = environment.get("LD_PRELOAD", os.environ.get("LD_PRELOAD"))
    environment["LD_PRELOAD"] = f"{library}:{before}" if before else library
    environment["STEELYARD_STACK_NOTES"] = notes
    return replace(variant, launch=replace(variant.launch, environment=tuple(environment.items())))


def _remove_instance(path: str, group: str) -> None:
    with suppress(OSError):
        os.rmdir(path)
    with suppress(OSError):
        with open(os.path.join(ROOT, "uprobe_events"), encoding="utf-8") as file:
            names = [line.split()[0] for line in file if f":{group}/" in line.split()[0]]
        for name in names:
            _append(os.path.join(ROOT, "uprobe_events"), f"-:{name.partition(':')[2]}\n")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _append(path: str, text: str) -> None:
    # Not by open(): it seeks to the end, which these files refuse.
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
