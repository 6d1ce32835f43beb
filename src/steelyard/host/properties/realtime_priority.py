"""Real-time priority: nothing of normal priority takes the CPU from the program.

Not in the default set: a program that never waits can keep others, the kernel's own threads
among them, from running on its CPUs.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from typing import Any

from steelyard.host.knob import Request, Severity
from steelyard.host.launch_knob import LaunchKnob
from steelyard.host.system import Host

_THROTTLE = "/proc/sys/kernel/sched_rt_runtime_us"


class RealtimePriority(LaunchKnob):
    """``SCHED_FIFO`` for the measured program."""

    name = "realtime-priority"
    title = "real-time priority"
    wanted_text = "only when asked for"
    order = 11

    def available(self, host: Host, request: Request) -> str | None:
        lowest, highest = os.sched_get_priority_min(os.SCHED_FIFO), 99
        if not lowest <= request.realtime_priority <= highest:
            return f"the priority must be from {lowest} to {highest}"
        allowed, _ = resource.getrlimit(resource.RLIMIT_RTPRIO)
        if host.is_root or allowed >= request.realtime_priority:
            return None
        return "only root, or a user with the limit rtprio, may have it"

    def read(self, host: Host, request: Request) -> Any:
        return {"priority": None}

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return {"priority": request.realtime_priority}

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        throttle = host.read(_THROTTLE)
        if throttle in (None, "-1"):
            return ()
        return (f"the kernel may pause it after {int(throttle) // 1000} ms of each period",)

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        return {"realtime_priority": wanted["priority"]}

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        return "normal scheduling", "ok"


KNOB = RealtimePriority()
