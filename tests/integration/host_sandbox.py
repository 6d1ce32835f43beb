"""A part of this machine for tests of what changes machines.

Inside there are a cpuset of its own, which is the top one there, and only the test's own
processes: a shield moves none of the machine's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

CPUSET = Path("/sys/fs/cgroup/cpuset")
ENTER = """
echo $$ > "$1/cgroup.procs"; shift
exec unshare --cgroup --mount --pid --fork --kill-child --mount-proc sh -c '
umount /sys/fs/cgroup/cpuset && mount -t cgroup -o cpuset cpuset /sys/fs/cgroup/cpuset || exit 99
exec "$@"' sh "$@"
"""


CHANGING_COMMANDS = (("host", "quiet"), ("host", "restore"), ("host", "study"))
CHANGING_OPTIONS = {"--quiet", "--knob"}
_changers: list[int] = []


@contextmanager
def only_changer() -> Iterator[None]:
    """Keep other tests, also those of another checkout, from changing this machine meanwhile."""
    # There on every machine, for every user, and one for all of their temporary directories.
    fd = os.open("/proc/sys", os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        _changers.append(fd)
        yield
    finally:
        os.close(fd)
        if fd in _changers:
            _changers.remove(fd)


def changes_machine(arguments: Sequence[str]) -> bool:
    """Whether a command line of Steelyard may change this machine."""
    words = list(arguments)
    own = words[: words.index("--")] if "--" in words else words
    return tuple(own[:2]) in CHANGING_COMMANDS or not CHANGING_OPTIONS.isdisjoint(own)


def changer_where_needed(arguments: Sequence[str]) -> AbstractContextManager[None]:
    """`only_changer` for a command that may change the machine, unless this test is it already."""
    return only_changer() if changes_machine(arguments) and not _changers else nullcontext()


def may_run_on(arguments: Sequence[str]) -> bool:
    """Whether a command may run on: it changes nothing, or this test alone may change."""
    return bool(_changers) or not changes_machine(arguments)


def sandbox_reason() -> str | None:
    """Why this machine has no sandbox; None when it has one."""
    if os.geteuid() != 0:
        return "a sandbox needs root"
    if not (CPUSET / "cpuset.cpus").exists():
        return "no cpuset hierarchy of cgroup version 1 is mounted at /sys/fs/cgroup/cpuset"
    if not shutil.which("unshare"):
        return "unshare (util-linux) is not installed"
    if len((CPUSET / "cpuset.cpus").read_text().strip()) < 2:
        return "a shield needs two CPUs"
    with _group() as group:
        done = _enter(group, ["true"])
    return None if done.returncode == 0 else "this machine allows no namespaces"


def run_in_sandbox(script: str, *arguments: str, environment: dict[str, str]) -> str:
    """Run Python code there; what it printed."""
    with _group() as group:
        done = _enter(group, [sys.executable, "-c", script, *arguments], environment)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@contextmanager
def _group() -> Iterator[Path]:
    group = CPUSET / f"steelyard-test-{os.getpid()}"
    group.mkdir()
    try:
        for name in ("cpuset.cpus", "cpuset.mems"):
            (group / name).write_text((CPUSET / name).read_text())
        yield group
    finally:
        for inner in sorted(group.rglob("*"), reverse=True):
            if inner.is_dir():
                inner.rmdir()
        group.rmdir()


def _enter(
    group: Path, argv: list[str], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", ENTER, "sh", str(group), *argv],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
