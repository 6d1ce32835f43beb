"""Autogroup: the share of a CPU that a program gets depends on the terminal that started it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host

_PATH = "/proc/sys/kernel/sched_autogroup_enabled"


class Autogroup(FileKnob):
    """The kernel's switch for it."""

    name = "autogroup"
    title = "scheduler autogroup"
    in_default_set = True
    wanted_text = "off"
    order = 45

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        return [_PATH]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "0"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value = host.read(_PATH)
        if value is None:
            return "not in this kernel", "ok"
        return ("off", "ok") if value == "0" else ("on", "info")

    def advice(self, host: Host, request: Request) -> str:
        return f"sysctl kernel.sched_autogroup_enabled=0, or {super().advice(host, request)}"


EXTENSION = Autogroup()
