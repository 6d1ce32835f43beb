"""Frequency governor of all CPUs."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.setting import FileSetting
from steelyard.host.system import Host

POLICIES = "/sys/devices/system/cpu/cpufreq"
ABSENT = "no frequency scaling here; a virtual machine leaves it to the one below"


def policy_files(host: Host, name: str) -> list[str]:
    """The file `name` of each frequency domain."""
    return [f"{POLICIES}/{p}/{name}" for p in host.names(POLICIES) if p.startswith("policy")]


class Governor(FileSetting):
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


EXTENSION = Governor()
