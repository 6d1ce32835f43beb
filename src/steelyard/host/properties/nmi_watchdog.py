"""NMI watchdog: takes one hardware counter and interrupts each busy CPU."""

from __future__ import annotations

from steelyard.host.switch_knob import SwitchKnob


class NmiWatchdog(SwitchKnob):
    """The kernel's switch for it."""

    name = "nmi-watchdog"
    title = "NMI watchdog"
    order = 47
    path = "/proc/sys/kernel/nmi_watchdog"
    command = "sysctl kernel.nmi_watchdog=0"
    severity_when_on = "info"


KNOB = NmiWatchdog()
