"""What the machine is: clock source, virtualisation, throttling, perf permissions."""

from __future__ import annotations

from steelyard.host.facts import container, virtualisation
from steelyard.host.knob import Finding, Severity
from steelyard.host.system import Host

_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_CPU = "/sys/devices/system/cpu"
# Clocks that are read without a system call on the usual machines.
_FAST_CLOCKS = (
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "tod",
    "riscv_clocksource",
)


def machine_findings(host: Host) -> list[Finding]:
    """Clock source, virtual machine, container, thermal throttling, perf, idle states."""
    return [
        _clock(host),
        _virtual(host),
        _container(host),
        _thermal(host),
        _perf(host),
        _idle(host),
    ]


def _clock(host: Host) -> Finding:
    current = host.read(f"{_CLOCK}/current_clocksource")
    offered = (host.read(f"{_CLOCK}/available_clocksource") or "").split()
    is_fast = current in _FAST_CLOCKS
    severity: Severity = "ok" if is_fast else "info" if current is None else "warning"
    if is_fast:
        advice = ""
    elif "tsc" in offered:
        advice = f"echo tsc > {_CLOCK}/current_clocksource"
    else:
        advice = "the kernel does not trust the CPU's counter here; see dmesg for 'clocksource'"
    return Finding(
        "clock-source", "clock source", current, "tsc", severity, "tsc" in offered, advice
    )


def _virtual(host: Host) -> Finding:
    kind = virtualisation(host)
    if kind is None:
        return Finding("virtualisation", "virtual machine", "none", "none", "ok", False)
    value = "a hypervisor of unknown kind" if kind == "unknown" else kind
    return Finding(
        "virtualisation",
        "virtual machine",
        value,
        "none",
        "warning",
        False,
        "neighbours on the same machine cannot be seen from here: compare in blocks, repeat on "
        "another day, or take bare metal",
    )


def _container(host: Host) -> Finding:
    kind = container(host)
    if kind is None:
        return Finding("container", "container", "none", "none", "ok", False)
    return Finding(
        "container",
        "container",
        kind,
        "none",
        "info",
        False,
        "limits of its cgroup hold for the program too; run outside to be rid of them",
    )


def _thermal(host: Host) -> Finding:
    counts = [
        int(text)
        for name in host.names(_CPU)
        if name[3:].isdigit()
        for kind in ("core", "package")
        if (text := host.read(f"{_CPU}/{name}/thermal_throttle/{kind}_throttle_count"))
    ]
    if not counts:
        return Finding(
            "thermal-throttling",
            "thermal throttling",
            None,
            "never",
            "info",
            False,
            "this machine does not count it",
        )
    worst = max(counts)
    return Finding(
        "thermal-throttling",
        "thermal throttling",
        f"{worst} times since boot" if worst else "never since boot",
        "never",
        "warning" if worst else "ok",
        False,
        "cool it better, or switch turbo off: steelyard host quiet --knob turbo -- CMD"
        if worst
        else "",
    )


def _perf(host: Host) -> Finding:
    text = host.read("/proc/sys/kernel/perf_event_paranoid")
    if text is None:
        return Finding(
            "perf-permission",
            "performance counters",
            "not in this kernel",
            "2 or less",
            "warning",
            False,
            "counters will be reported as unavailable",
        )
    # Level 2 lets users count their own programs in user mode (perf_event_open(2)).
    is_open = host.is_root or int(text) <= 2
    has_hardware = host.exists("/sys/bus/event_source/devices/cpu") or any(
        name.startswith(("cpu_", "armv")) for name in host.names("/sys/bus/event_source/devices")
    )
    value = f"perf_event_paranoid {text}" + ("" if has_hardware else ", no hardware counters")
    if not is_open:
        return Finding(
            "perf-permission",
            "performance counters",
            value,
            "2 or less",
            "warning",
            True,
            "sysctl kernel.perf_event_paranoid=2",
        )
    if not has_hardware:
        return Finding(
            "perf-permission",
            "performance counters",
            value,
            "2 or less",
            "info",
            False,
            "cycles and instructions need bare metal, or a virtual machine that passes them on",
        )
    return Finding("perf-permission", "performance counters", value, "2 or less", "ok", True)


def _idle(host: Host) -> Finding:
    path = f"{_CPU}/cpu0/cpuidle"
    deepest = 0
    name = None
    for state in host.names(path):
        latency = host.read(f"{path}/{state}/latency")
        if latency and host.read(f"{path}/{state}/disable") == "0" and int(latency) >= deepest:
            deepest, name = int(latency), host.read(f"{path}/{state}/name")
    if name is None:
        return Finding("idle-states", "deep idle states", "none", "none", "ok", False)
    # Waking from the deepest state of most servers takes over 100 us.
    severity: Severity = "info" if deepest >= 100 else "ok"
    return Finding(
        "idle-states",
        "deep idle states",
        f"{name}, {deepest} us to wake up",
        "below 100 us",
        severity,
        True,
        f"cpupower idle-set --disable-by-latency {100}" if severity != "ok" else "",
    )
