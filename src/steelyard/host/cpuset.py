"""Cpusets of cgroup v1 and v2: keep everything else off some CPUs.

All groups below the top are narrowed, the tasks of the top group itself are moved into a group
of ours, and this process is moved to where it may use every CPU. What cannot be moved, such as
kernel threads that belong to a CPU, stays.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from steelyard.host.cpu_list import format_cpu_list, is_cpu_text, parse_cpu_list
from steelyard.host.system import Host

REST_GROUP = "steelyard-rest"
OWN_GROUP = "steelyard-own"
# While tasks are being moved, those not yet moved may start new ones.
_ROUNDS = 8


def find_cpuset(host: Host) -> tuple[int, str] | None:
    """Version and mount point of the hierarchy that controls cpusets; None when there is none.

    On hybrid machines the controller is in one of both versions; only that one is found.
    """
    unified: str | None = None
    for line in (host.read("/proc/self/mountinfo") or "").splitlines():
        place, _, source = line.partition(" - ")
        fields = source.split()
        if len(fields) < 3:
            continue
        point = place.split()[4]
        if fields[0] == "cgroup" and "cpuset" in fields[2].split(","):
            return 1, point
        if fields[0] == "cgroup2":
            unified = point
    if unified and "cpuset" in (host.read(f"{unified}/cgroup.controllers") or "").split():
        return 2, unified
    return None


def cpuset_reason(host: Host) -> str | None:
    """Why cpusets are not to be had; None when they are."""
    found = find_cpuset(host)
    if found is None:
        return "no cgroup hierarchy with the cpuset controller is mounted"
    version, top = found
    if not host.is_root:
        return "only root may make cpusets"
    if not host.writable(f"{top}/cgroup.procs"):
        return f"{top} is read-only here"
    # Only the real top of version 2 may hold processes beside groups with controllers.
    is_inner = host.exists(f"{top}/cgroup.type")
    enabled = (host.read(f"{top}/cgroup.subtree_control") or "").split()
    if version == 2 and is_inner and "cpuset" not in enabled:
        return "this container's cgroup may not hand out cpusets"
    return None


def read_groups(host: Host, version: int, top: str) -> dict[str, Any]:
    """What narrowing changes: the groups' CPUs (outermost first), where this process is, and
    which controllers version 2 hands out."""
    groups = _groups(host, top, every=version == 1)
    texts = {f"{group}/cpuset.cpus": host.read(f"{group}/cpuset.cpus") for group in groups}
    return {
        "version": version,
        "top": top,
        "groups": {path: text for path, text in texts.items() if text is not None},
        "ungoverned": [path for path, text in texts.items() if text is None],
        "own": _own_group(host, version, top),
        "subtree_control": host.read(f"{top}/cgroup.subtree_control") if version == 2 else None,
    }


def foreign_groups(host: Host, groups: dict[str, Any]) -> str | None:
    """What in a state of `read_groups` or `plan_groups` is of no group of this machine."""
    found = find_cpuset(host)
    if found is None or (groups["version"], groups["top"]) != found:
        return f"{groups['top']!r} is no hierarchy of cpusets here"
    top = f"{groups['top']}/"
    inside = [*groups["groups"], f"{groups.get('own', groups['top'])}/"]
    for path in inside:
        if not path.startswith(top) or ".." in path.split("/"):
            return f"{path!r} is no group of cpusets"
    for path, text in groups["groups"].items():
        if not path.endswith("/cpuset.cpus") or not is_cpu_text(text):
            return f"{path!r} with {text!r} is no list of CPUs"
    return None


def plan_groups(former: dict[str, Any], rest: Sequence[int]) -> dict[str, Any]:
    """The groups' CPUs without those that are not in `rest`; a group with none left keeps its."""
    paths = list(former["groups"])
    if former["version"] == 2:
        paths += former["ungoverned"]
    wanted: dict[str, str] = {}
    for path in paths:
        text = former["groups"].get(path) or ""
        left = set(rest) & set(parse_cpu_list(text)) if text else set(rest)
        # An empty list means "as the parent" in version 2 and "not set up" in version 1.
        if left and (text or former["version"] == 2):
            wanted[path] = format_cpu_list(left)
    return {
        **{key: former[key] for key in ("version", "top")},
        "groups": wanted,
        "rest": format_cpu_list(rest),
    }


def narrow_groups(
    host: Host, wanted: dict[str, Any], companions: Sequence[int] = ()
) -> tuple[list[int], list[str]]:
    """Put `wanted` in force. Gives the tasks that stayed and the groups that refused.

    `companions` are processes that may use every CPU, as this one may.

    Raises
    ------
    OSError
        Our own groups cannot be made.
    """
    version, top = wanted["version"], wanted["top"]
    rest, own = f"{top}/{REST_GROUP}", f"{top}/{OWN_GROUP}"
    if version == 2:
        host.write(f"{top}/cgroup.subtree_control", "+cpuset")
    _make_group(host, top, rest, wanted["rest"])
    _make_group(host, top, own, host.read(f"{top}/cpuset.cpus") or "")
    for process in (os.getpid(), *companions):
        host.write(f"{own}/cgroup.procs", str(process))
    refused: list[str] = []
    for path in reversed(list(wanted["groups"])):
        if host.read(path) == wanted["groups"][path]:
            continue
        try:
            host.write(path, wanted["groups"][path])
        except OSError as error:
            refused.append(f"{os.path.dirname(path)}: {error.strerror}")
    members = "tasks" if version == 1 else "cgroup.procs"
    return _move_members(host, f"{top}/{members}", f"{rest}/{members}"), refused


def widen_groups(host: Host, former: dict[str, Any]) -> list[str]:
    """Undo `narrow_groups`, whatever part of it was done; what could not be put back."""
    version, top = former["version"], former["top"]
    members = "tasks" if version == 1 else "cgroup.procs"
    failures: list[str] = []
    for path, text in former["groups"].items():
        _write_back(host, path, text, failures)
    own = former["own"] if host.exists(former["own"]) else top
    _move_members(host, f"{top}/{OWN_GROUP}/{members}", f"{own}/{members}")
    _move_members(host, f"{top}/{REST_GROUP}/{members}", f"{top}/{members}")
    for group in (REST_GROUP, OWN_GROUP):
        try:
            host.remove_directory(f"{top}/{group}")
        except OSError as error:
            failures.append(f"{top}/{group}: {error.strerror}")
    return failures + _ungovern(host, former)


def group_cpu_files(host: Host, top: str) -> list[str]:
    """The files with the CPUs of each group below `top`, outermost first."""
    return [f"{group}/cpuset.cpus" for group in _groups(host, top, every=True)]


def _groups(host: Host, top: str, every: bool) -> list[str]:
    found: list[str] = []
    queue = [top]
    while queue:
        parent = queue.pop(0)
        for name in host.names(parent):
            group = f"{parent}/{name}"
            if name in (REST_GROUP, OWN_GROUP) or not host.exists(f"{group}/cgroup.procs"):
                continue
            found.append(group)
            if every:
                queue.append(group)
    return found


def _own_group(host: Host, version: int, top: str) -> str:
    for line in (host.read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if (controllers == "") if version == 2 else ("cpuset" in controllers.split(",")):
            inside = path != "/" and ".." not in path
            return top + path if inside else top
    return top


def _make_group(host: Host, top: str, group: str, cpus: str) -> None:
    host.make_directory(group)
    if cpus:
        host.write(f"{group}/cpuset.cpus", cpus)
    # A group of version 1 takes no task before it has memory nodes.
    nodes = host.read(f"{top}/cpuset.mems")
    if nodes:
        host.write(f"{group}/cpuset.mems", nodes)


def _move_members(host: Host, source: str, target: str) -> list[int]:
    stayed: set[int] = set()
    for _ in range(_ROUNDS):
        members = {int(line) for line in (host.read(source) or "").split()}
        # Zero stands for processes outside of our namespace.
        movable = members - stayed - {0}
        if not movable:
            break
        for member in sorted(movable):
            try:
                host.write(target, str(member))
            except ProcessLookupError:
                continue
            except OSError:
                stayed.add(member)
    return sorted(stayed)


def _write_back(host: Host, path: str, text: str, failures: list[str]) -> None:
    # A group that was removed meanwhile has nothing to put back.
    if not host.exists(path) or host.read(path) == text:
        return
    try:
        host.write(path, text or "\n")
    except OSError as error:
        failures.append(f"{path}: {error.strerror}")


def _ungovern(host: Host, former: dict[str, Any]) -> list[str]:
    path = f"{former['top']}/cgroup.subtree_control"
    if former["version"] != 2 or "cpuset" not in (host.read(path) or "").split():
        return []
    if "cpuset" in (former["subtree_control"] or "").split():
        return []
    try:
        host.write(path, "-cpuset")
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    return []
