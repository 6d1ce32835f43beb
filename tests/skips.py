"""Which skips of tests a run may have: a test that is skipped checks nothing.

`make test` sets `STEELYARD_NEEDLESS_SKIPS=refused`: a run with a skip that nothing here excuses
then fails, and lists it. The rest are listed with what this machine lacks. What `make setup-dev`
could not get, though it tried, is excused too: that it failed was said there.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTING = "STEELYARD_NEEDLESS_SKIPS"
# `make setup-dev` writes the names of packages and tools that it could not get.
NOT_HAD = ROOT / ".venv" / "stamps" / "test-tools-not-had"


@dataclass(frozen=True)
class Lack:
    """Something that a machine may lack although `make setup-dev` went through it.

    Attributes
    ----------
    what : str
        For the list at the end of a run.
    reasons : str
        A regular expression that the reasons of its skips match.
    holds : Callable[[], bool]
        Whether this machine lacks it. Where the test itself has tried, there is nothing to ask.
    """

    what: str
    reasons: str
    holds: Callable[[], bool] = lambda: True


def _is_closed() -> bool:
    return any(not folder.stat().st_mode & 0o1 for folder in (ROOT, *ROOT.parents))


MAY_LACK = (
    Lack("root", r"takes root|needs root|[Oo]nly root", lambda: os.geteuid() != 0),
    Lack("processes with the kernel's own numbers", r"in a PID namespace"),
    Lack("root", r"this user may|nobody may trace|nobody leave|(?i:may not trace here)"),
    Lack("a checkout that other users may read", r"other users? (cannot|may not)", _is_closed),
    Lack("another processor", r"x86-64", lambda: platform.machine() != "x86_64"),
    Lack(
        "the kernel's tracing, mounted",
        r"tracing is not mounted",
        lambda: not os.path.isdir("/sys/kernel/tracing/instances"),
    ),
    Lack(
        "cgroups of CPUs",
        r"cpuset|a shield needs two CPUs|no CPU outside of the group|control group of CPUs",
        lambda: (
            not os.access("/sys/fs/cgroup/cpuset/cpuset.cpus", os.W_OK) or (os.cpu_count() or 1) < 2
        ),
    ),
    Lack("a second CPU", r"the order parallel takes", lambda: len(os.sched_getaffinity(0)) < 2),
    Lack("samples or counters of this kernel", r"gives no (hardware )?samples|may not count"),
    Lack("counters of the hardware", r"(cannot|does not) count|no hardware|hardware counters"),
    Lack("a setting of the kernel", r"^/(proc|sys)/\S+ cannot be written|perf_event_paranoid at 1"),
    Lack("leave to make namespaces", r"namespace|private network|[Nn]othing can be mounted"),
    Lack("clocks that shift", r"clock", lambda: not os.path.exists("/proc/self/timens_offsets")),
    Lack("a machine without swap in use", r"this machine swaps|takes no swap file"),
    Lack("randomised addresses", r"this machine randomises nothing|has no vdso"),
    Lack("memory nodes", r"memory nodes", lambda: not os.path.exists("/sys/devices/system/node")),
    Lack("another C library", r"another C library|only some machines have several versions"),
    Lack("a perf that does not crash", r"^perf itself crashes"),
    Lack("what this compiler cannot", r"this (compiler|objcopy) (does|makes|packs)"),
    Lack("a virtual machine that is known", r"interpreter are not known"),
    Lack(
        "viewers that no package has: make profile-viewers",
        r"no build/viewers/(bin/|firefox)",
    ),
)


def excuse(reason: str) -> str | None:
    """What this machine lacks that a skip with this reason is due to; None: nothing.

    Parameters
    ----------
    reason : str
        As the test said.

    Returns
    -------
    str | None
        Words for the list at the end of a run.
    """
    for lack in MAY_LACK:
        if re.search(lack.reasons, reason) and lack.holds():
            return lack.what
    not_had = NOT_HAD.read_text("utf-8").split() if NOT_HAD.exists() else []
    return next(
        (
            f"{name}, which make setup-dev could not get"
            for name in not_had
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", reason)
        ),
        None,
    )


def reasons(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """Why each of these tests was skipped, in order."""
    told = []
    for report in reports:
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        told.append(text.removeprefix("Skipped: "))
    return told


def needless(told: Iterable[str]) -> list[str]:
    """Those reasons that nothing here excuses."""
    return [reason for reason in told if excuse(reason) is None]
