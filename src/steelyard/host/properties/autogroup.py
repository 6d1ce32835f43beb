"""Autogroup: the share of a CPU that a program gets depends on the session that started it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import draw_of, host_factor
from steelyard.host.knob import Request, Severity
from steelyard.host.setting import FileSetting
from steelyard.host.switch_knob import SwitchKnob
from steelyard.host.system import Host

_PATH = "/proc/sys/kernel/sched_autogroup_enabled"
_TEXTS = {"off": "0", "on": "1"}
_LEVELS = {text: level for level, text in _TEXTS.items()}


class AutogroupKnob(SwitchKnob):
    """The kernel's switch for it, which the knob switches off.

    Not in the default set, and fine when on: a program that has its CPU to itself does not feel
    it, and one that shares it with others gets less without, where those are many processes of few
    sessions (docs/commands/host.md). The knob is there to be studied.
    """

    name = "autogroup"
    title = "scheduler autogroup"
    in_default_set = False
    order = 45
    path = _PATH
    command = "sysctl kernel.sched_autogroup_enabled=1"
    severity_when_on = "ok"
    wanted_text = "on"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value, _ = super().assess(host, request)
        return value, "info" if value == "off" else "ok"

    def advice(self, host: Host, request: Request) -> str:
        return f"{self.command}, unless the program has its CPU to itself"


KNOB = AutogroupKnob()


class AutogroupSetting(FileSetting):
    """Whether the sessions of a machine share its CPUs, rather than its programs."""

    name = "autogroup"

    def paths(self, host: Host) -> Sequence[str]:
        return [_PATH]

    def text(self, level: str) -> str:
        return _TEXTS[level]

    def level(self, text: str) -> str:
        return _LEVELS.get(text, text)


SETTING = AutogroupSetting()


FACTOR = host_factor(
    "autogroup",
    "Whether CPUs are shared among sessions rather than programs: on or off.",
    one_of("on", "off"),
    draw_of("on", "off"),
)
