"""What the machine does besides: load, busy processes, stolen time, interrupts."""

from __future__ import annotations

import os
from typing import NamedTuple

from steelyard.host.cpu_list import format_cpu_list
from steelyard.host.knob import Finding, Request, Severity
from steelyard.host.properties.cpu_shield import online_cpus
from steelyard.host.system import Host
from steelyard.host.tasks import own_threads, processes, task_stat

# Share of one CPU from which a process is named, and from which it is bad.
_BUSY_SHARE = 0.02
_BAD_SHARE = 0.25
# Share of the time: a hundredth is the default precision of an experiment.
_STEAL_WARNING, _STEAL_BAD = 0.001, 0.01
# A timer at 250 Hz with 2 us each costs 0.05 % of a CPU; ten times as much is a disturbance.
_IRQ_WARNING_PER_S = 2500.0
_DEVICE_WARNING_PER_S = 50.0


class Activity(NamedTuple):
    """Counters since boot at one moment.

    `cpu_ticks` maps a CPU to (all, stolen) ticks, `process_ticks` a process to its name and
    ticks, `interrupts` each source to its counts per CPU.
    """

    uptime_s: float
    cpu_ticks: dict[int, tuple[int, int]]
    process_ticks: dict[int, tuple[str, int]]
    interrupts: dict[str, dict[int, int]]


def sample_activity(host: Host) -> Activity:
    """The counters now."""
    ticks: dict[int, tuple[int, int]] = {}
    for line in (host.read("/proc/stat") or "").splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name != "cpu":
            # user nice system idle iowait irq softirq steal (proc(5)); guest time is in user.
            counts = [int(value) for value in values[:8]]
            ticks[int(name[3:])] = sum(counts), counts[7] if len(counts) > 7 else 0
    found = {pid: task_stat(host, pid) for pid in processes(host)}
    return Activity(
        uptime_s=float((host.read("/proc/uptime") or "0").split()[0]),
        cpu_ticks=ticks,
        process_ticks={pid: (s.name, s.cpu_ticks) for pid, s in found.items() if s},
        interrupts=interrupt_counts(host),
    )


def interrupt_counts(host: Host) -> dict[str, dict[int, int]]:
    """Interrupts since boot, by source (with its description) and CPU."""
    lines = (host.read("/proc/interrupts", 1 << 24) or "").splitlines()
    if not lines:
        return {}
    cpus = [int(word[3:]) for word in lines[0].split()]
    counts: dict[str, dict[int, int]] = {}
    for line in lines[1:]:
        source, _, rest = line.partition(":")
        words = rest.split()
        numbers = words[: len(cpus)]
        if len(numbers) < len(cpus) or not all(word.isdigit() for word in numbers):
            continue
        label = f"{source.strip()} {' '.join(words[len(cpus) :][-1:])}".strip()
        counts[label] = dict(zip(cpus, map(int, numbers), strict=True))
    return counts


def activity_findings(
    host: Host, request: Request, before: Activity, after: Activity
) -> list[Finding]:
    """Load, busy processes, stolen time and interrupts between two samples."""
    cpus = request.cpus or online_cpus(host)
    elapsed_s = max(after.uptime_s - before.uptime_s, 1e-2)
    return [
        _load(host),
        _busy_processes(host, before, after, elapsed_s),
        _steal(before, after, cpus),
        _timer(before, after, cpus, elapsed_s),
        _devices(before, after, cpus, elapsed_s),
    ]


def _load(host: Host) -> Finding:
    text = host.read("/proc/loadavg")
    if text is None:
        return Finding("load", "load average", None, "below 0.1 a CPU", "info", False)
    load = float(text.split()[0])
    share = load / max(1, len(online_cpus(host)))
    severity: Severity = "ok" if share < 0.1 else "warning" if share < 0.7 else "bad"
    advice = "" if severity == "ok" else "wait until it has gone down, or end what makes it (top)"
    return Finding(
        "load",
        "load average",
        f"{load:.2f} in the last minute",
        "below 0.1 a CPU",
        severity,
        True,
        advice,
    )


def _busy_processes(host: Host, before: Activity, after: Activity, elapsed_s: float) -> Finding:
    own = own_threads(host)
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    shares: list[tuple[float, str, int]] = []
    for pid, (name, ticks) in after.process_ticks.items():
        if pid in own or pid not in before.process_ticks:
            continue
        share = (ticks - before.process_ticks[pid][1]) / ticks_per_s / elapsed_s
        if share >= _BUSY_SHARE:
            shares.append((share, name, pid))
    shares.sort(reverse=True)
    text = ", ".join(f"{name} ({pid}) {share:.0%}" for share, name, pid in shares[:5])
    severity: Severity = "ok" if not shares else "bad" if shares[0][0] >= _BAD_SHARE else "warning"
    advice = "end or stop them, or keep them off: steelyard host quiet --knob cpu-shield -- CMD"
    return Finding(
        "busy-processes",
        "other users of the CPUs",
        text or "none",
        "none",
        severity,
        True,
        advice if shares else "",
    )


def _steal(before: Activity, after: Activity, cpus: tuple[int, ...]) -> Finding:
    total = stolen = 0
    for cpu in cpus:
        if cpu in before.cpu_ticks and cpu in after.cpu_ticks:
            total += after.cpu_ticks[cpu][0] - before.cpu_ticks[cpu][0]
            stolen += after.cpu_ticks[cpu][1] - before.cpu_ticks[cpu][1]
    now = stolen / total if total > 0 else 0.0
    booted = sum(after.cpu_ticks[cpu][0] for cpu in cpus if cpu in after.cpu_ticks)
    since = sum(after.cpu_ticks[cpu][1] for cpu in cpus if cpu in after.cpu_ticks)
    ever = since / booted if booted else 0.0
    worst = max(now, ever)
    severity: Severity = (
        "ok" if worst < _STEAL_WARNING else "warning" if worst < _STEAL_BAD else "bad"
    )
    advice = (
        "the machine below runs others on these CPUs: take a dedicated or bare-metal machine, "
        "and compare in blocks, so that it meets all variants alike"
    )
    return Finding(
        "steal",
        "stolen time",
        f"{now:.2%} now, {ever:.2%} since boot",
        "0 %",
        severity,
        False,
        "" if severity == "ok" else advice,
    )


def _timer(before: Activity, after: Activity, cpus: tuple[int, ...], elapsed_s: float) -> Finding:
    rates = _rates(before, after, cpus, elapsed_s, ("LOC", "arch_timer"))
    text = ", ".join(f"CPU {cpu}: {rate:.0f}/s" for _, cpu, rate in rates)
    worst = max((rate for _, _, rate in rates), default=0.0)
    severity: Severity = "warning" if worst > _IRQ_WARNING_PER_S else "ok"
    advice = "boot with nohz_full= for these CPUs" if severity != "ok" else ""
    return Finding(
        "timer-interrupts", "timer interrupts", text or "none", "few", severity, False, advice
    )


def _devices(before: Activity, after: Activity, cpus: tuple[int, ...], elapsed_s: float) -> Finding:
    sources = [name for name in after.interrupts if name.split(" ")[0].isdigit()]
    rates = _rates(before, after, cpus, elapsed_s, sources)
    rates = [rate for rate in rates if rate[2] >= 1.0]
    worst = sum(rate for _, _, rate in rates)
    severity: Severity = "warning" if worst > _DEVICE_WARNING_PER_S else "ok"
    busiest = sorted(rates, key=lambda rate: -rate[2])[:4]
    advice = (
        f"steelyard host quiet --knob cpu-shield --cpus {format_cpu_list(cpus[-1:])} -- CMD "
        "moves them to other CPUs; or stop irqbalance and write /proc/irq/N/smp_affinity_list"
    )
    return Finding(
        "device-interrupts",
        "interrupts of devices",
        _rate_text(busiest) or "none",
        "none on the measured CPUs",
        severity,
        True,
        advice if severity != "ok" else "",
    )


def _rates(
    before: Activity,
    after: Activity,
    cpus: tuple[int, ...],
    elapsed_s: float,
    sources: list[str] | tuple[str, ...],
) -> list[tuple[str, int, float]]:
    rates: list[tuple[str, int, float]] = []
    for source, counts in after.interrupts.items():
        if not any(source == wanted or source.startswith(f"{wanted} ") for wanted in sources):
            continue
        former = before.interrupts.get(source, {})
        rates += [
            (source, cpu, (counts[cpu] - former.get(cpu, counts[cpu])) / elapsed_s)
            for cpu in cpus
            if cpu in counts
        ]
    return rates


def _rate_text(rates: list[tuple[str, int, float]]) -> str:
    named = [(source.split(" ")[-1], cpu, rate) for source, cpu, rate in rates]
    return ", ".join(f"{name} on CPU {cpu}: {rate:.0f}/s" for name, cpu, rate in named)
