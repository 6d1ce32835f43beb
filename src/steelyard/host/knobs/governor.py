"""Frequency governor: picks each CPU's clock frequency from its recent load."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host

_POLICIES = "/sys/devices/system/cpu/cpufreq"


class Governor(FileKnob):
    """The governors of all frequency domains."""

    name = "governor"
    title = "frequency governor"
    in_default_set = True
    wanted_text = "performance"
    order = 40
    absent_reason = "no frequency scaling here; a virtual machine leaves it to the one below"

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        names = [name for name in host.names(_POLICIES) if name.startswith("policy")]
        return [f"{_POLICIES}/{name}/scaling_governor" for name in names]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "performance"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        found = sorted(set(self.read(host, request).values()))
        if not found:
            return None, "info"
        return ", ".join(found), "ok" if found == ["performance"] else "bad"

    def advice(self, host: Host, request: Request) -> str:
        if not self.paths(host, request):
            return ""
        return f"cpupower frequency-set -g performance, or {super().advice(host, request)}"


EXTENSION = Governor()
