"""What this machine is, cheaply enough to be kept with every experiment."""

from __future__ import annotations

import os
from typing import Any

from steelyard.host.system_files import HostFiles

_CPU = "/sys/devices/system/cpu"
# What hypervisors and clouds write into the DMI tables (systemd, src/basic/virt.c).
_DMI_VENDORS = (
    ("KVM", "kvm"),
    ("QEMU", "qemu"),
    ("Amazon EC2", "amazon"),
    ("VMware", "vmware"),
    ("innotek GmbH", "virtualbox"),
    ("VirtualBox", "virtualbox"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("Microsoft Corporation", "hyper-v"),
    ("Google Compute Engine", "google"),
    ("OpenStack", "openstack"),
    ("Apple Virtualization", "apple"),
)


def host_facts(files: HostFiles | None = None) -> dict[str, Any]:
    """The facts of this machine that a result depends on. None stands for not known.

    Returns
    -------
    dict
        JSON values only; scalars carry their unit in their name.
    """
    files = files or HostFiles()
    system = os.uname()
    # The first page describes the first CPU; on big machines the rest costs milliseconds.
    cpu = _fields(files.read("/proc/cpuinfo", 4096) or "", ":")
    memory = _fields(files.read("/proc/meminfo", 4096) or "", ":")
    return {
        "hostname": system.nodename,
        "kernel": system.release,
        "machine": system.machine,
        "boot_id": files.read("/proc/sys/kernel/random/boot_id"),
        "cpu_model": cpu.get("model name") or cpu.get("Model") or cpu.get("cpu model"),
        "cpu_count": os.cpu_count(),
        "cpus_allowed": sorted(os.sched_getaffinity(0)),
        "memory_bytes": _kib(memory.get("MemTotal")),
        "swap_bytes": _kib(memory.get("SwapTotal")),
        "aslr": _integer(files.read("/proc/sys/kernel/randomize_va_space")),
        "governor": files.read(f"{_CPU}/cpu0/cpufreq/scaling_governor"),
        "smt": smt_active(files),
        "turbo": turbo_enabled(files),
        "transparent_hugepages": files.selected("/sys/kernel/mm/transparent_hugepage/enabled"),
        "clock_source": files.read(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
        "virtualisation": virtualisation(files, cpu.get("flags", "")),
        "container": container(files),
        "load_1min": _load(files.read("/proc/loadavg")),
    }


def smt_active(files: HostFiles) -> bool | None:
    """Whether hardware threads share cores now."""
    value = files.read(f"{_CPU}/smt/active")
    return None if value is None else value == "1"


def turbo_enabled(files: HostFiles) -> bool | None:
    """Whether the CPU may go beyond its nominal frequency."""
    value = files.read(f"{_CPU}/intel_pstate/no_turbo")
    if value is not None:
        return value == "0"
    value = files.read(f"{_CPU}/cpufreq/boost")
    return None if value is None else value == "1"


def virtualisation(files: HostFiles, cpu_flags: str | None = None) -> str | None:
    """The kind of virtual machine, ``"unknown"`` for one without a name, None on bare metal."""
    if cpu_flags is None:
        cpu = files.read("/proc/cpuinfo", 4096) or ""
        cpu_flags = _fields(cpu, ":").get("flags", "")
    for name in ("sys_vendor", "product_name", "bios_vendor"):
        text = files.read(f"/sys/class/dmi/id/{name}")
        for prefix, kind in _DMI_VENDORS:
            # Microsoft makes machines of metal too; the CPU's flag tells them apart.
            if (
                text
                and text.startswith(prefix)
                and (kind != "hyper-v" or "hypervisor" in cpu_flags)
            ):
                return kind
    if files.read("/sys/hypervisor/type"):
        return files.read("/sys/hypervisor/type")
    return "unknown" if "hypervisor" in cpu_flags.split() else None


def container(files: HostFiles) -> str | None:
    """The kind of container that this process is in, as far as it can be seen."""
    if files.exists("/.dockerenv"):
        return "docker"
    if files.exists("/run/.containerenv"):
        return "podman"
    # The name that systemd's container interface gives the variable is in small letters.
    named = files.read("/run/systemd/container") or os.environ.get("container")  # noqa: SIM112
    if named:
        return named
    return "kubernetes" if os.environ.get("KUBERNETES_SERVICE_HOST") else None


def _fields(text: str, separator: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, found, value = line.partition(separator)
        if found:
            fields.setdefault(name.strip(), value.strip())
    return fields


def _kib(text: str | None) -> int | None:
    return int(text.split()[0]) * 1024 if text else None


def _integer(text: str | None) -> int | None:
    return int(text) if text and text.lstrip("-").isdigit() else None


def _load(text: str | None) -> float | None:
    return float(text.split()[0]) if text else None
