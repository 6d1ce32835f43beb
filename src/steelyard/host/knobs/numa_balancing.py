"""NUMA balancing: unmaps pages again and again to see which CPU uses them, then moves them."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host

_PATH = "/proc/sys/kernel/numa_balancing"


class NumaBalancing(FileKnob):
    """The kernel's switch for it."""

    name = "numa-balancing"
    title = "NUMA balancing"
    in_default_set = True
    wanted_text = "off"
    order = 46

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        return [_PATH]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "0"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value = host.read(_PATH)
        if value is None:
            return "not in this kernel", "ok"
        return ("off", "ok") if value == "0" else ("on", "warning")

    def advice(self, host: Host, request: Request) -> str:
        return f"sysctl kernel.numa_balancing=0, or {super().advice(host, request)}"


EXTENSION = NumaBalancing()
