"""What tests of event studies share: a program with a log, and what they take of the kernel."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

# Each process has another number of steps, which is also its result.
PROGRAM = 'n=$(( $$ % 7 + 3 )); for i in $(seq $n); do echo "step a" >> log; done; echo units $n'
METRIC = ("--metric", "units=units ([0-9]+):units")

INSTANCES = "/sys/kernel/tracing/instances"


may_find_paths = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="call stacks are found by DWARF on x86-64 alone"
)


def _is_contained() -> bool:
    try:
        return os.readlink("/proc/self/ns/pid") != "pid:[4026531836]"
    except OSError:
        return False


def may_trace(test: Callable[..., None]) -> Callable[..., None]:
    """A test that the kernel tells of itself: one at a time, since each looks at what is left."""
    for is_missing, reason in (
        (os.geteuid() != 0, "it takes root"),
        (not os.path.isdir(INSTANCES), f"the kernel's tracing is not mounted: no {INSTANCES}"),
        (_is_contained(), "in a PID namespace this user may record no events"),
    ):
        test = pytest.mark.skipif(is_missing, reason=reason)(test)
    return pytest.mark.usefixtures("alone")(test)


def left_by_the_dead() -> list[str]:
    """What processes that are gone have left in the kernel. Other studies may be going on."""
    names = [name for name in os.listdir(INSTANCES) if name.startswith("steelyard-")]
    return [name for name in names if not os.path.exists(f"/proc/{name.rpartition('-')[2]}")]
