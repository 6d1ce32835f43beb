"""The facts that a host finds of itself, as an allocation reads them."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any, cast

from steelyard.allocation.worker_facts import CAN_BOOT, FACTS, Fact, WorkerFacts, worker_facts
from steelyard.host.facts import host_facts
from steelyard.host.system_files import HostFiles
from steelyard.service.package.host_rooms import IMAGES, LIBRARIES
from steelyard.service.workers import Worker

_CACHES = {("1", "Data"): "l1d", ("2", "Unified"): "l2", ("3", "Unified"): "l3"}
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def found_facts(tags: Sequence[str] = (), files: HostFiles | None = None) -> dict[str, Any]:
    """What this host is, by the names of `allocation.worker_facts.FACTS`; what is not known is
    absent, and sets are lists."""
    files = files or HostFiles()
    known = host_facts(files)
    cpu = _first_cpu(files.read("/proc/cpuinfo", 65536) or "")
    found: dict[str, Any] = {
        "architecture": known["machine"],
        "cpu-model": known["cpu_model"],
        "cpu-family": _family(cpu),
        "cpus": known["cpu_count"],
        "memory": known["memory_bytes"],
        "swap": known["swap_bytes"],
        "flags": sorted((cpu.get("flags") or cpu.get("Features") or "").split()),
        "kernel": known["kernel"],
        "distribution": _distribution(),
        "virtualisation": known["virtualisation"] or "none",
        "tags": sorted(tags),
        "images": list(IMAGES.found()),
        "libraries": list(LIBRARIES.found()),
        **_caches(files),
    }
    return {name: value for name, value in found.items() if value is not None}


def _first_cpu(text: str) -> dict[str, str]:
    lines = (line.partition(":") for line in text.split("\n\n", maxsplit=1)[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _family(cpu: Mapping[str, str]) -> str | None:
    """Vendor, family and model: what compilers tune for."""
    vendor = cpu.get("vendor_id") or cpu.get("CPU implementer")
    family = cpu.get("cpu family") or cpu.get("CPU architecture")
    model = cpu.get("model") or cpu.get("CPU part")
    parts = [part for part in (vendor, family, model) if part]
    return " ".join(parts) or None


def _distribution() -> str | None:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return None
    return " ".join(filter(None, (release.get("ID"), release.get("VERSION_ID"))))


def _caches(files: HostFiles) -> dict[str, int]:
    found: dict[str, int] = {}
    root = "/sys/devices/system/cpu/cpu0/cache"
    for index in range(8):
        level = files.read(f"{root}/index{index}/level") or ""
        kind = files.read(f"{root}/index{index}/type") or ""
        size = files.read(f"{root}/index{index}/size") or ""
        name = _CACHES.get((level, kind))
        if name and size[:-1].isdigit() and size[-1] in _UNITS:
            found[name] = int(size[:-1]) * _UNITS[size[-1]]
    return found


def default_name() -> str:
    """What a worker is called unless it is told otherwise."""
    return os.uname().nodename


def levels_of(worker: Worker) -> WorkerFacts:
    """An enrolled worker as an allocation sees it; facts that it cannot mean are left out."""
    facts: dict[str, Fact] = {}
    for name, value in worker.facts.items():
        kind = FACTS.get(name)
        if kind == "set" and isinstance(value, list):
            facts[name] = frozenset(str(each) for each in cast("list[Any]", value))
        elif (kind == "text" and isinstance(value, str)) or (
            kind in ("number", "size") and type(value) in (int, float)
        ):
            facts[name] = value
    if can_boot(worker):
        facts["boots"] = CAN_BOOT
    return worker_facts({**facts, "name": worker.name})


def can_boot(worker: Worker) -> bool:
    """Whether its host can be booted for an experiment: by its cluster, or by itself."""
    return bool(worker.cluster) or worker.facts.get("boots") == CAN_BOOT
