"""Threads of the machine: which there are, and on which CPUs they may run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from steelyard.host.system import Host

# <linux/sched.h>, in field 9 of /proc/PID/stat.
PF_KTHREAD = 0x00200000
PF_NO_SETAFFINITY = 0x04000000


class TaskStat(NamedTuple):
    """What /proc/PID/stat says of a thread (proc(5)): times are in clock ticks."""

    name: str
    state: str
    parent: int
    flags: int
    cpu_ticks: int
    start_ticks: int
    last_cpu: int


def task_stat(host: Host, task: int, process: int | None = None) -> TaskStat | None:
    """The state of a process, or of the thread `task` of `process`; None when it is gone."""
    where = f"/proc/{task}" if process is None else f"/proc/{process}/task/{task}"
    text = host.read(f"{where}/stat")
    if not text:
        return None
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return TaskStat(
        name=head.partition("(")[2],
        state=fields[0],
        parent=int(fields[1]),
        flags=int(fields[6]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        start_ticks=int(fields[19]),
        last_cpu=int(fields[36]),
    )


def processes(host: Host) -> list[int]:
    """The numbers of all processes that can be seen."""
    return sorted(int(name) for name in host.names("/proc") if name.isdigit())


def threads(host: Host) -> Iterator[tuple[int, int]]:
    """All threads as (thread, process)."""
    for process in processes(host):
        for name in host.names(f"/proc/{process}/task"):
            yield int(name), process


def own_threads(host: Host) -> frozenset[int]:
    """The threads of this process and of what it has started."""
    own = {os.getpid()}
    parents = {pid: stat.parent for pid in processes(host) if (stat := task_stat(host, pid))}
    grown = True
    while grown:
        children = {pid for pid, parent in parents.items() if parent in own} - own
        own |= children
        grown = bool(children)
    return frozenset(
        int(name) for pid in own for name in host.names(f"/proc/{pid}/task")
    ) | frozenset(own)


def affinities(host: Host, skip: frozenset[int]) -> dict[str, Any]:
    """Start and CPUs of each thread whose CPUs can be set, as ``{thread: [start, [cpus]]}``."""
    found: dict[str, Any] = {}
    for task, process in threads(host):
        if task in skip:
            continue
        stat = task_stat(host, task, process)
        if stat is None or stat.flags & PF_NO_SETAFFINITY:
            continue
        try:
            found[str(task)] = [stat.start_ticks, list(host.affinity(task))]
        except OSError:
            continue
    return found


def foreign_tasks(*states: dict[str, Any]) -> str | None:
    """What in states of `affinities` is no thread with its CPUs; None when nothing is."""
    for state in states:
        for name, (start, cpus) in state.items():
            numbers = [start, *cpus]
            if not name.isdigit() or not all(isinstance(n, int) or n is None for n in numbers):
                return f"{name!r} is no thread with its CPUs"
    return None


def restore_affinities(host: Host, former: dict[str, Any]) -> int:
    """Give threads their former CPUs where they have others; how many could not be changed.

    A thread that has ended, or whose number a later one carries, is left alone.
    """
    failed_count = 0
    for name, (start, cpus) in former.items():
        stat = task_stat(host, int(name))
        if stat is None or stat.start_ticks != start:
            continue
        try:
            if list(host.affinity(int(name))) != cpus:
                host.set_affinity(int(name), cpus)
        except ProcessLookupError:
            continue
        except OSError:
            failed_count += 1
    return failed_count


def move_tasks(host: Host, wanted: dict[str, Any]) -> int:
    """Give threads the wanted CPUs; how many could not be changed."""
    return restore_affinities(host, wanted)


def restore_heirs(host: Host, former: dict[str, Any], moved: dict[str, Any]) -> None:
    """Widen threads that were started by moved ones meanwhile and inherited their CPUs.

    They get what the nearest living ancestor had before it was moved.
    """
    if not moved:
        return
    for task, process in threads(host):
        if str(task) in former:
            continue
        ancestor = _recorded_ancestor(host, process, former)
        if ancestor is None or ancestor not in moved:
            continue
        try:
            if list(host.affinity(task)) == moved[ancestor][1]:
                host.set_affinity(task, former[ancestor][1])
        except OSError:
            # Ended meanwhile, or another user's.
            continue


def _recorded_ancestor(host: Host, process: int, former: dict[str, Any]) -> str | None:
    while process > 0:
        stat = task_stat(host, process)
        if stat is None:
            return None
        name = str(process)
        if name in former:
            return name if former[name][0] == stat.start_ticks else None
        process = stat.parent
    return None
