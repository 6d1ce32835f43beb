"""The ways in which a process is ended or disturbed at a random instant."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")
CLOCK_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
# Below what an interpreter takes, so that the next page that it touches is one too many.
_SCARCE_BYTES = 4 * 2**20
_DAY = "1d"


@dataclass(frozen=True)
class Scene:
    """What a fault acts on.

    Parameters
    ----------
    process : subprocess.Popen
        Steelyard.
    target : int
        Steelyard's process, or that of a native part that it has started.
    home : Path
        A file system of its own, where the store is.
    """

    process: subprocess.Popen[bytes]
    target: int
    home: Path


Fault = Callable[[Scene], None]


def _signal(number: signal.Signals) -> Fault:
    def send(scene: Scene) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(scene.target, number)

    return send


def stop_then_kill(scene: Scene) -> None:
    """SIGSTOP, and SIGKILL while it is stopped."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        _signal(number)(scene)
        time.sleep(0.1)


def out_of_memory(scene: Scene) -> None:
    """Have the kernel's OOM killer end the target, in a memory cgroup of its own."""
    group = MEMORY_GROUPS / f"steelyard-kills-{scene.target}"
    group.mkdir()
    try:
        with contextlib.suppress(OSError):
            (group / "memory.move_charge_at_immigrate").write_text("1")
        with contextlib.suppress(OSError):
            (group / "cgroup.procs").write_text(str(scene.target))
            (group / "memory.limit_in_bytes").write_text(str(_SCARCE_BYTES))
        with contextlib.suppress(subprocess.TimeoutExpired):
            scene.process.wait(timeout=5)
        _signal(signal.SIGKILL)(scene)  # It may hold so little that it is never refused any.
    finally:
        for _ in range(100):
            with contextlib.suppress(OSError):
                group.rmdir()
            if not group.exists():
                break
            time.sleep(0.1)


def full_disk(scene: Scene) -> None:
    """Fill the file system of the store, and free it a little later."""
    filling = scene.home / "filling"
    with contextlib.suppress(OSError), filling.open("wb") as file:
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    time.sleep(0.3)
    filling.unlink(missing_ok=True)


def clock_by_a_day(scene: Scene) -> None:
    """Set the clock that Steelyard sees forth by a day, then back by one, then right."""
    for offset in (f"+{_DAY}", f"-{_DAY}", "+0"):
        (scene.home / "clock").write_text(offset)
        time.sleep(0.15)


FAULTS: dict[str, Fault] = {
    "SIGKILL": _signal(signal.SIGKILL),
    "SIGTERM": _signal(signal.SIGTERM),
    "SIGINT": _signal(signal.SIGINT),
    "SIGHUP": _signal(signal.SIGHUP),
    "SIGSTOP, SIGKILL": stop_then_kill,
    "out of memory": out_of_memory,
    "full disk": full_disk,
    "clock by a day": clock_by_a_day,
}


def unavailable() -> dict[str, str]:
    """The faults that this machine cannot make, with the reason."""
    found: dict[str, str] = {}
    if os.geteuid() != 0:
        found["full disk"] = found["out of memory"] = "only root can"
    elif not os.access(MEMORY_GROUPS / "cgroup.procs", os.W_OK):
        found["out of memory"] = "no memory cgroup of version 1 that may be written"
    if not CLOCK_LIBRARY.exists():
        found["clock by a day"] = "libfaketime is missing: apt-get install faketime"
    return found
