"""Hardware threads: two programs on one core share its caches and execution units.

Switching them off takes CPUs offline, which the kernel answers by moving what ran there. What
it does not move back by itself, interrupts and cpusets of version 1, is kept and put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.host.cpuset import find_cpuset, group_cpu_files
from steelyard.host.irqs import irq_numbers
from steelyard.host.kernel_files import difference
from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host

_SMT = "/sys/devices/system/cpu/smt"
_CONTROL = f"{_SMT}/control"


class HardwareThreads(FileKnob):
    """Simultaneous multithreading of the whole machine."""

    name = "smt"
    title = "hardware threads (SMT)"
    wanted_text = "off"
    order = 20

    def available(self, host: Host, request: Request) -> str | None:
        control = host.read(_CONTROL)
        if control not in ("on", "off"):
            return f"this machine cannot switch them ({control or 'no control file'})"
        return super().available(host, request)

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        irqs = [f"/proc/irq/{name}/smp_affinity_list" for name in irq_numbers(host)]
        found = find_cpuset(host)
        groups = group_cpu_files(host, found[1]) if found and found[0] == 1 else []
        return [_CONTROL, *groups, *irqs]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "off" if path == _CONTROL else text

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        # The kernel itself narrows the rest, to CPUs that are still there.
        return super().apply(host, {_CONTROL: wanted[_CONTROL]})

    def verify(self, host: Host, wanted: Any) -> str | None:
        return difference(host, {_CONTROL: wanted[_CONTROL]})

    def summary(self, state: Any) -> Any:
        return {_CONTROL: state.get(_CONTROL)}

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        active = host.read(f"{_SMT}/active")
        if active is None:
            return None, "info"
        return ("on", "warning") if active == "1" else ("off", "ok")

    def advice(self, host: Host, request: Request) -> str:
        return f"echo off > {_CONTROL}, or {super().advice(host, request)}"


KNOB = HardwareThreads()
