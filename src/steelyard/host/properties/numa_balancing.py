"""NUMA balancing: unmaps pages again and again to see which CPU uses them, then moves them."""

from __future__ import annotations

from steelyard.host.switch_knob import SwitchKnob


class NumaBalancing(SwitchKnob):
    """The kernel's switch for it."""

    name = "numa-balancing"
    title = "NUMA balancing"
    order = 46
    path = "/proc/sys/kernel/numa_balancing"
    command = "sysctl kernel.numa_balancing=0"
    severity_when_on = "warning"


KNOB = NumaBalancing()
