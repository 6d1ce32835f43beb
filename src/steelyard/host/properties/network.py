"""Network: packets that arrive interrupt, and a program that waits for a server is not measured.

The program gets a network namespace of its own, in which no interface is up; the machine's
network is not touched. Not in the default set: a program that needs it would fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.host.knob import Request, Severity
from steelyard.host.launch_knob import LaunchKnob
from steelyard.host.system import Host


class Network(LaunchKnob):
    """A network namespace for the measured program."""

    name = "network"
    title = "network"
    wanted_text = "off for programs that do without"
    order = 12

    def available(self, host: Host, request: Request) -> str | None:
        if not host.exists("/proc/self/ns/net"):
            return "this kernel has no network namespaces"
        return None if host.is_root else "only root may make a network namespace"

    def read(self, host: Host, request: Request) -> Any:
        return {"private": False}

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return {"private": True}

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        return {"private_network": True}

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        up = [
            name
            for name in host.names("/sys/class/net")
            if name != "lo" and host.read(f"/sys/class/net/{name}/operstate") == "up"
        ]
        return (f"up: {', '.join(up)}", "info") if up else ("no interface is up", "ok")


KNOB = Network()
