"""Autogroup: the share of a CPU that a program gets depends on the session that started it."""

from __future__ import annotations

from steelyard.host.knob import Request, Severity
from steelyard.host.switch_knob import SwitchKnob
from steelyard.host.system import Host


class Autogroup(SwitchKnob):
    """The kernel's switch for it, which the knob switches off.

    Not in the default set, and fine when on: a program that has its CPU to itself does not feel
    it, and one that shares it with others gets less without, where those are many processes of few
    sessions (docs/commands/host.md). The knob is there to be studied.
    """

    name = "autogroup"
    title = "scheduler autogroup"
    in_default_set = False
    order = 45
    path = "/proc/sys/kernel/sched_autogroup_enabled"
    command = "sysctl kernel.sched_autogroup_enabled=1"
    severity_when_on = "ok"
    wanted_text = "on"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value, _ = super().assess(host, request)
        return value, "info" if value == "off" else "ok"

    def advice(self, host: Host, request: Request) -> str:
        return f"{self.command}, unless the program has its CPU to itself"


EXTENSION = Autogroup()
