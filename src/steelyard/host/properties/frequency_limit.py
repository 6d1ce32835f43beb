"""Highest clock frequency of all CPUs."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.factors.factor import whole_number
from steelyard.factors.host_levels import host_factor
from steelyard.host.properties.governor import ABSENT, policy_files
from steelyard.host.setting import FileSetting
from steelyard.host.system import Host

_KHZ_IN_MHZ = 1000


class FrequencyLimit(FileSetting):
    """What the governor may not go beyond, in MHz."""

    name = "frequency-limit"
    absent_reason = ABSENT

    def paths(self, host: Host) -> Sequence[str]:
        return policy_files(host, "scaling_max_freq")

    def text(self, level: str) -> str:
        return str(int(level) * _KHZ_IN_MHZ)

    def level(self, text: str) -> str:
        return str(int(text) // _KHZ_IN_MHZ)

    def refused(self, host: Host, level: str) -> str | None:
        bounds = [policy_files(host, f"cpuinfo_{end}_freq") for end in ("min", "max")]
        for low_path, high_path in zip(*bounds, strict=True):
            low, high = (host.read(path) or "" for path in (low_path, high_path))
            known = low.isdigit() and high.isdigit()
            if known and not int(low) <= int(self.text(level)) <= int(high):
                return f"it takes {self.level(low)} to {self.level(high)} MHz, not {level}"
        return None


SETTING = FrequencyLimit()


_LIMIT_MHZ = 100_000

FACTOR = host_factor(
    "frequency-limit", "The highest frequency of all CPUs in MHz.", whole_number(1, _LIMIT_MHZ)
)
