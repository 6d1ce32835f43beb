"""A CPU for the measured program alone: everything else is moved to the other CPUs.

By a cpuset where this machine and this user can have one, otherwise by the affinity of each
thread that may be changed. Interrupts and unbound kernel work are moved too. Larres (2012,
section 3.2) names it among the measures that take variance away. This process itself leaves
the shielded CPUs, so that it never takes time from the program that it watches.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.core.errors import HostError
from steelyard.host.cpu_list import format_cpu_list, parse_cpu_list
from steelyard.host.cpuset import (
    cpuset_reason,
    find_cpuset,
    foreign_groups,
    narrow_groups,
    plan_groups,
    read_groups,
    widen_groups,
)
from steelyard.host.irqs import foreign_irqs, move_irqs, read_irq_cpus, without_cpus
from steelyard.host.kernel_files import write_back
from steelyard.host.knob import Knob, Request, Severity
from steelyard.host.system import Host
from steelyard.host.tasks import (
    affinities,
    foreign_tasks,
    move_tasks,
    own_threads,
    restore_affinities,
    restore_heirs,
)

_CPU = "/sys/devices/system/cpu"
# Together longer than a process takes to be reaped on a machine that is not overloaded.
_AGAIN, _PAUSE_S = 20, 0.05


class CpuShield(Knob):
    """CPUs that only the measured program uses."""

    name = "cpu-shield"
    title = "CPU shield"
    in_default_set = True
    wanted_text = "CPUs of its own for the program"
    order = 60

    def available(self, host: Host, request: Request) -> str | None:
        online = online_cpus(host)
        wrong = sorted(set(request.cpus or ()) - set(online))
        if wrong:
            return f"CPU {wrong[0]} is not online; there are {format_cpu_list(online)}"
        if len(online) < 2:
            return "the only CPU cannot be taken from everything else"
        if not rest_of(host, shielded_cpus(host, request)):
            return "at least one CPU must be left for everything else"
        return None

    def read(self, host: Host, request: Request) -> Any:
        found = find_cpuset(host) if cpuset_reason(host) is None else None
        skip = own_threads(host)
        return {
            "groups": read_groups(host, *found) if found else None,
            "irqs": read_irq_cpus(host) if host.is_root else {},
            "tasks": affinities(host, skip),
            "own": {
                str(process): [host.process_start(process), list(host.affinity(process))]
                for process in (os.getpid(), *request.companions)
            },
            "shield": list(shielded_cpus(host, request)),
        }

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        shield = previous["shield"]
        rest = rest_of(host, shield)
        return {
            "program": shield,
            "rest": list(rest),
            "groups": plan_groups(previous["groups"], rest) if previous["groups"] else None,
            "companions": list(request.companions),
            "irqs": without_cpus(previous["irqs"], shield, rest),
            "tasks": {} if previous["groups"] else _without(previous["tasks"], shield),
        }

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        notes: list[str] = []
        if wanted["groups"]:
            stayed, refused = narrow_groups(host, wanted["groups"], wanted["companions"])
            if stayed:
                notes.append(f"{len(stayed)} kernel threads are bound to their CPUs and stay")
            notes += [f"group {reason}" for reason in refused]
        else:
            failed_count = move_tasks(host, wanted["tasks"])
            notes.append(f"by affinity alone: {cpuset_reason(host)}")
            if failed_count:
                notes.append(f"{failed_count} threads of others may not be moved")
        for process in (0, *wanted["companions"]):
            host.set_affinity(process, wanted["rest"])
        notes += [f"interrupt stays: {reason}" for reason in move_irqs(host, wanted["irqs"])]
        return tuple(notes)

    def verify(self, host: Host, wanted: Any) -> str | None:
        found = list(host.affinity(0))
        if found != wanted["rest"]:
            return f"this process runs on {format_cpu_list(found)}"
        groups = wanted["groups"]
        path = f"{groups['top']}/steelyard-rest/cpuset.cpus" if groups else ""
        if groups and host.read(path) != groups["rest"]:
            return f"{path} is {host.read(path)!r}"
        return None

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        for groups in (previous["groups"], wanted["groups"]):
            reason = foreign_groups(host, groups) if groups else None
            if reason is not None:
                return reason
        return foreign_irqs((previous["irqs"], wanted["irqs"])) or foreign_tasks(
            {**previous["tasks"], **previous["own"]}, wanted["tasks"]
        )

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        failures = self._put_back(host, previous, wanted)
        for _ in range(_AGAIN):
            if not failures:
                return
            # On a busy machine a task that is being started or ended may hold a group.
            host.pause(_PAUSE_S)
            failures = self._put_back(host, previous, wanted)
        if failures:
            raise HostError("; ".join(failures))

    def _put_back(self, host: Host, previous: Any, wanted: Any) -> list[str]:
        """What could not be put back this time."""
        failures: list[str] = []
        if previous["groups"]:
            failures += widen_groups(host, previous["groups"])
        failed_count = restore_affinities(host, {**previous["tasks"], **previous["own"]})
        # What the user may not change was not changed by us either.
        if failed_count and host.is_root:
            failures.append(f"{failed_count} threads do not take their CPUs back")
        restore_heirs(host, previous["tasks"], wanted["tasks"])
        changed = {path: previous["irqs"][path] for path in wanted["irqs"]}
        try:
            write_back(host, changed)
        except HostError as error:
            failures.append(error.message)
        return failures

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        return {"cpus": tuple(wanted["program"])}

    def summary(self, state: Any) -> Any:
        if "program" not in state:
            return None
        means = f"cgroup v{state['groups']['version']}" if state["groups"] else "affinity"
        return {
            "program": format_cpu_list(state["program"]),
            "rest": format_cpu_list(state["rest"]),
            "means": means,
        }

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        isolated = host.read(f"{_CPU}/isolated")
        cpus = set(request.cpus or ())
        if isolated and cpus and cpus <= set(parse_cpu_list(isolated)):
            return f"isolated since boot: {isolated}", "ok"
        online = len(online_cpus(host))
        return f"none; {online} CPUs shared by everything", "warning"

    def advice(self, host: Host, request: Request) -> str:
        cpus = format_cpu_list(shielded_cpus(host, request))
        return f"steelyard host quiet --knob {self.name} --cpus {cpus} -- CMD"


def online_cpus(host: Host) -> tuple[int, ...]:
    """The CPUs that run now."""
    return parse_cpu_list(host.read(f"{_CPU}/online") or "0")


def shielded_cpus(host: Host, request: Request) -> tuple[int, ...]:
    """The CPUs that were asked for, or the last one: the kernel puts its own work on the first."""
    return tuple(request.cpus) if request.cpus else online_cpus(host)[-1:]


def rest_of(host: Host, shield: Sequence[int]) -> tuple[int, ...]:
    """The CPUs for everything else: neither shielded nor a hardware thread of a shielded core,
    unless these are all that is left."""
    left = [cpu for cpu in online_cpus(host) if cpu not in shield]
    siblings = {
        sibling
        for cpu in shield
        for sibling in parse_cpu_list(
            host.read(f"{_CPU}/cpu{cpu}/topology/thread_siblings_list") or ""
        )
    }
    return tuple(cpu for cpu in left if cpu not in siblings) or tuple(left)


def _without(tasks: Mapping[str, Any], shield: Sequence[int]) -> dict[str, Any]:
    moved: dict[str, Any] = {}
    for task, (start, cpus) in tasks.items():
        left = [cpu for cpu in cpus if cpu not in shield]
        if left and left != cpus:
            moved[task] = [start, left]
    return moved


KNOB = CpuShield()
