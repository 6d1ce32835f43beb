"""Frequency governor: picks each CPU's clock frequency from its recent load."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.factors.host_levels import host_factor
from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.setting import FileSetting
from steelyard.host.system import Host

POLICIES = "/sys/devices/system/cpu/cpufreq"
ABSENT = "no frequency scaling here; a virtual machine leaves it to the one below"


def policy_files(host: Host, name: str) -> list[str]:
    """The file `name` of each frequency domain."""
    return [f"{POLICIES}/{p}/{name}" for p in host.names(POLICIES) if p.startswith("policy")]


class GovernorKnob(FileKnob):
    """The governors of all frequency domains."""

    name = "governor"
    title = "frequency governor"
    in_default_set = True
    wanted_text = "performance"
    order = 40
    absent_reason = ABSENT

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        return policy_files(host, "scaling_governor")

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


KNOB = GovernorKnob()


class GovernorSetting(FileSetting):
    """What picks the clock frequency."""

    name = "governor"
    absent_reason = ABSENT

    def paths(self, host: Host) -> Sequence[str]:
        return policy_files(host, "scaling_governor")

    def refused(self, host: Host, level: str) -> str | None:
        for path in policy_files(host, "scaling_available_governors"):
            offered = (host.read(path) or "").split()
            if offered and level not in offered:
                return f"this driver offers {', '.join(offered)}, not {level}"
        return None


SETTING = GovernorSetting()


def _level(text: str) -> str:
    if not text.isidentifier():
        raise ValueError("it takes a governor such as performance or powersave")
    return text


FACTOR = host_factor("governor", "The frequency governor of all CPUs, such as performance.", _level)
