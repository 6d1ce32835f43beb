"""What was decided when the machine was started: CPUs without ticks, isolated CPUs, IRQs."""

from __future__ import annotations

from steelyard.host.cpu_list import format_cpu_list, parse_cpu_list
from steelyard.host.irqs import irq_numbers
from steelyard.host.knob import Finding, Request, Severity
from steelyard.host.properties.cpu_shield import online_cpus
from steelyard.host.system import Host

_CPU = "/sys/devices/system/cpu"


def boot_findings(host: Host, request: Request) -> list[Finding]:
    """nohz_full, isolcpus and the affinity of interrupts, for the chosen CPUs."""
    cpus = request.cpus or online_cpus(host)[-1:]
    return [
        _boot_set(
            host, "nohz-full", "CPUs without timer ticks", f"{_CPU}/nohz_full", cpus, "nohz_full"
        ),
        _boot_set(
            host,
            "isolcpus",
            "CPUs isolated from the scheduler",
            f"{_CPU}/isolated",
            cpus,
            "isolcpus",
        ),
        _irq_affinity(host, cpus),
    ]


def _boot_set(
    host: Host, knob: str, title: str, path: str, cpus: tuple[int, ...], option: str
) -> Finding:
    text = host.read(path) or ""
    present = set(parse_cpu_list(text)) if text and text != "(null)" else set()
    covered = bool(cpus) and set(cpus) <= present
    wanted = format_cpu_list(cpus)
    advice = "" if covered else f"add {option}={wanted} to the kernel's command line and reboot"
    severity: Severity = "ok" if covered else "info"
    return Finding(knob, title, format_cpu_list(present) or "none", wanted, severity, True, advice)


def _irq_affinity(host: Host, cpus: tuple[int, ...]) -> Finding:
    allowed = 0
    numbers = irq_numbers(host)
    for number in numbers:
        text = host.read(f"/proc/irq/{number}/effective_affinity_list") or host.read(
            f"/proc/irq/{number}/smp_affinity_list"
        )
        if text and set(parse_cpu_list(text)) & set(cpus):
            allowed += 1
    severity: Severity = "info" if allowed else "ok"
    advice = "steelyard host quiet --knob cpu-shield -- CMD moves those that can be moved"
    return Finding(
        "irq-affinity",
        "interrupts bound to the CPUs",
        f"{allowed} of {len(numbers)} go to CPU {format_cpu_list(cpus)}",
        "none",
        severity,
        host.is_root,
        advice if allowed else "",
    )
