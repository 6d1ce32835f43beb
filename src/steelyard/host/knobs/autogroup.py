"""Autogroup: the share of a CPU that a program gets depends on the terminal that started it."""

from __future__ import annotations

from steelyard.host.switch_knob import SwitchKnob


class Autogroup(SwitchKnob):
    """The kernel's switch for it.

    Not in the default set: a program that has its CPU to itself does not feel it, and one that
    shares it with others gets less where they are many processes of few sessions.
    """

    name = "autogroup"
    title = "scheduler autogroup"
    in_default_set = False
    order = 45
    path = "/proc/sys/kernel/sched_autogroup_enabled"
    command = "sysctl kernel.sched_autogroup_enabled=0"
    severity_when_on = "info"


EXTENSION = Autogroup()
