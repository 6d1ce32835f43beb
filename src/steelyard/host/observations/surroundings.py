"""What the program is run among: the file system below it, free memory, memory cgroup."""

from __future__ import annotations

import os

from steelyard.host.knob import Finding, Severity
from steelyard.host.system import Host

_IN_MEMORY = ("tmpfs", "ramfs")
_REMOTE = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "ceph",
    "glusterfs",
    "lustre",
    "fuse.sshfs",
    "afs",
)
_FREE_SHARE = 0.1


def surroundings_findings(host: Host) -> list[Finding]:
    """File system of the working directory, and memory that is left."""
    return [_file_system(host), _memory(host)]


def file_system_kind(host: Host, directory: str) -> tuple[str, str] | None:
    """Kind and mount point of the file system that `directory` is on."""
    best: tuple[str, str] | None = None
    for line in (host.read("/proc/self/mountinfo") or "").splitlines():
        place, _, source = line.partition(" - ")
        point = place.split()[4]
        inside = directory == point or directory.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= len(best[1])):
            best = source.split()[0], point
    return best


def _file_system(host: Host) -> Finding:
    found = file_system_kind(host, os.getcwd())
    kind = found[0] if found else None
    severity: Severity
    if kind in _IN_MEMORY:
        severity, advice = "ok", ""
    elif kind in _REMOTE or (kind or "").startswith("fuse"):
        severity, advice = "bad", "work in memory: steelyard host quiet --knob ramdisk -- CMD"
    else:
        severity, advice = "info", "work in memory: steelyard host quiet --knob ramdisk -- CMD"
    value = f"{found[0]} on {found[1]}" if found else None
    return Finding(
        "file-system",
        "file system of the working directory",
        value,
        "tmpfs or ramfs",
        severity,
        True,
        advice,
    )


def _memory(host: Host) -> Finding:
    sizes = {
        line.split(":")[0]: int(line.split()[1])
        for line in (host.read("/proc/meminfo") or "").splitlines()
    }
    total, free = sizes.get("MemTotal", 0), sizes.get("MemAvailable", 0)
    if not total:
        return Finding("free-memory", "available memory", None, "10 % or more", "info", False)
    share = free / total
    severity: Severity = "ok" if share >= _FREE_SHARE else "bad"
    return Finding(
        "free-memory",
        "available memory",
        f"{free // 1024} MiB, {share:.0%}",
        "10 % or more",
        severity,
        True,
        "" if severity == "ok" else "end programs that use much (top -o %MEM)",
    )
