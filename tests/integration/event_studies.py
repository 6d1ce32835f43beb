"""What tests of event studies share: a program with a log, and what they take of the kernel."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

# Each process has another number of steps, which is also its result.
PROGRAM = 'n=$(( $$ % 7 + 3 )); for i in $(seq $n); do echo "step a" >> log; done; echo units $n'
METRIC = ("--metric", "units=units ([0-9]+):units")

INSTANCES = "/sys/kernel/tracing/instances"


def _is_contained() -> bool:
    try:
        return os.readlink("/proc/self/ns/pid") != "pid:[4026531836]"
    except OSError:
        return False


def why_not_traced() -> str | None:
    """What keeps events of the kernel from being recorded here; None: nothing."""
    if os.geteuid() != 0:
        return "it takes root"
    if not os.path.isdir(INSTANCES):
        return f"the kernel's tracing is not mounted: no {INSTANCES}"
    return "in a PID namespace this user may record no events" if _is_contained() else None


def may_trace(test: Callable[..., None]) -> Callable[..., None]:
    """A test that the kernel tells of itself: one at a time, since each looks at what is left."""
    reason = why_not_traced()
    test = pytest.mark.skipif(reason is not None, reason=reason or "")(test)
    return pytest.mark.usefixtures("alone")(test)


def left_by_the_dead() -> list[str]:
    """What processes that are gone have left in the kernel. Other studies may be going on."""
    names = [name for name in os.listdir(INSTANCES) if name.startswith("steelyard-")]
    return [name for name in names if not os.path.exists(f"/proc/{name.rpartition('-')[2]}")]
