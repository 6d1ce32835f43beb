"""Address space layout randomisation: moves stack, heap and libraries at every start.

Switched off for the measured program alone (personality(2)), never for the machine: other
programs keep their protection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.host.knob import Request, Severity
from steelyard.host.launch_knob import LaunchKnob
from steelyard.host.system import Host

_PATH = "/proc/sys/kernel/randomize_va_space"
_MEANINGS = {"0": "off", "1": "on (stack, libraries)", "2": "on (stack, libraries, heap)"}


class AddressRandomisation(LaunchKnob):
    """ASLR of the measured program."""

    name = "aslr"
    title = "address space randomisation"
    in_default_set = True
    wanted_text = "off for the program"
    order = 10

    def available(self, host: Host, request: Request) -> str | None:
        return None

    def read(self, host: Host, request: Request) -> Any:
        return {"program": host.read(_PATH) != "0"}

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return {"program": False}

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        return {"aslr": False}

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value = host.read(_PATH)
        if value is None:
            return None, "info"
        # A layout per run widens intervals but is honest; off, one layout stands for all.
        return _MEANINGS.get(value, value), "ok" if value == "0" else "warning"

    def advice(self, host: Host, request: Request) -> str:
        return f"setarch -R CMD, or {super().advice(host, request)}"


KNOB = AddressRandomisation()
