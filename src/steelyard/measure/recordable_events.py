"""Which of the kernel's events can be recorded: their groups, and what this machine lacks."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.events_spec import EventsSpec

ROOT = "/sys/kernel/tracing"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "sched": ("sched/sched_switch", "sched/sched_wakeup", "sched/sched_migrate_task"),
    "threads": ("sched/sched_process_fork", "sched/sched_process_exit"),
    "syscalls": ("syscalls/sys_enter_*",),
    "faults": ("exceptions/page_fault_*",),
}
# PROC_PID_INIT_INO of include/linux/proc_ns.h.
_FIRST_PID_NAMESPACE = "pid:[4026531836]"


def check_tracing(events: EventsSpec) -> None:
    """Refuse before anything runs what this machine or this user cannot record.

    Raises
    ------
    MissingCapabilityError
        Not root, or the kernel's tracing is not there; the message says what to do.
    UsageError
        A group or an expression is none.
    """
    for group in events.groups:
        if group not in GROUPS:
            known = ", ".join(GROUPS)
            raise UsageError(
                f"There is no group of events {group!r}. Known: {known}.", field="--record"
            )
    if events.pattern is not None and not events.pattern.startswith("json:"):
        import re

        try:
            re.compile(events.pattern)
        except re.error as error:
            raise UsageError(
                f"The expression {events.pattern!r} of the log is wrong: {error}.", field="--log"
            ) from None
    if not (events.groups or events.probes):
        return
    if os.geteuid() != 0:
        raise MissingCapabilityError(
            "Only root may record the kernel's events, system calls, page faults and functions. "
            "Run this as root, or name a log that the program writes: --log FILE=REGEX.",
            field="--record",
        )
    _check_kernel(events)


def _check_kernel(events: EventsSpec) -> None:
    """Refuse what the kernel, as it is seen from here, does not record."""
    if not _numbers_are_the_kernels():
        raise MissingCapabilityError(
            "Here processes have numbers of their own (a PID namespace, as in a container), and "
            "the kernel's tracing knows them by others. Record events outside of it, or name a "
            "log that the program writes: --log FILE=REGEX.",
            field="--record",
        )
    if not os.path.isdir(os.path.join(ROOT, "instances")):
        raise MissingCapabilityError(
            f"The kernel's tracing is not at {ROOT}. `mount -t tracefs nodev {ROOT}` brings it, "
            "unless the kernel was built without it or a container hides it.",
            field="--record",
        )
    for group in events.groups:
        for pattern in GROUPS[group]:
            if not glob.glob(os.path.join(ROOT, "events", pattern)):
                raise MissingCapabilityError(
                    f"This kernel has no event {pattern}, which the group {group} needs. "
                    "Leave it out of --record.",
                    field="--record",
                )
    if events.probes and not os.path.exists(os.path.join(ROOT, "uprobe_events")):
        raise MissingCapabilityError(
            "This kernel has no probes in programs (CONFIG_UPROBE_EVENTS): leave --function and "
            "--probe out.",
            field="--function",
        )


def _numbers_are_the_kernels() -> bool:
    """Whether processes have the same numbers here as in the kernel; yes where that is not told."""
    try:
        return os.readlink("/proc/self/ns/pid") == _FIRST_PID_NAMESPACE
    except OSError:
        return True
