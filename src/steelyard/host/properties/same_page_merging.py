"""Same-page merging: a kernel thread reads memory in search of equal pages."""

from __future__ import annotations

from steelyard.host.switch_knob import SwitchKnob


class SamePageMerging(SwitchKnob):
    """The kernel's switch for it."""

    name = "same-page-merging"
    title = "same-page merging (KSM)"
    order = 48
    path = "/sys/kernel/mm/ksm/run"
    command = "echo 0 > /sys/kernel/mm/ksm/run"
    severity_when_on = "warning"


KNOB = SamePageMerging()
