"""RAM disk: a working directory that no disk slows down and that is never swapped.

Not in the default set, since commands with relative paths would not find their files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from steelyard.core.errors import HostError
from steelyard.host.knob import Knob, Request, Severity
from steelyard.host.session import is_session
from steelyard.host.system import Host

# tmpfs takes `noswap` since this release (Documentation/filesystems/tmpfs.rst).
_NOSWAP_SINCE = (6, 4)
_SHARED_MEMORY = "/dev/shm"
_MOUNT_PARENT = "/run"


class RamDisk(Knob):
    """A working directory in memory for the measured program, empty at first."""

    name = "ramdisk"
    title = "RAM disk for the working directory"
    wanted_text = "memory that is never swapped"
    order = 55

    def available(self, host: Host, request: Request) -> str | None:
        if host.is_root:
            return None
        if host.writable(_SHARED_MEMORY):
            return None
        return f"only root may mount one, and {_SHARED_MEMORY} is not writable"

    def read(self, host: Host, request: Request) -> Any:
        return {"directory": None}

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        if not host.is_root:
            directory = f"{_SHARED_MEMORY}/steelyard-{os.geteuid()}-{request.session}"
            return {"directory": directory, "kind": None}
        kind = "tmpfs" if _kernel_release(host) >= _NOSWAP_SINCE else "ramfs"
        return {"directory": f"{_MOUNT_PARENT}/steelyard-{request.session}", "kind": kind}

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        directory = wanted["directory"]
        if host.exists(directory):
            raise HostError(f"{directory} is there already and not ours")
        host.make_directory(directory, 0o700)
        if wanted["kind"] is None:
            return (f"without root it is in {_SHARED_MEMORY}, which may be swapped",)
        options = "mode=0700,noswap" if wanted["kind"] == "tmpfs" else "mode=0700"
        host.mount(wanted["kind"], directory, options)
        return ()

    def verify(self, host: Host, wanted: Any) -> str | None:
        if wanted["kind"] is not None and mounted_kind(host, wanted["directory"]) is None:
            return f"nothing is mounted on {wanted['directory']}"
        return None if host.exists(wanted["directory"]) else f"{wanted['directory']} is not there"

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        directory, kind = wanted["directory"], wanted["kind"]
        if kind not in (None, "tmpfs", "ramfs") or (kind is None) == host.is_root:
            return f"{kind!r} is no file system that it mounts"
        parent = f"{_MOUNT_PARENT}/steelyard-"
        if kind is None:
            parent = f"{_SHARED_MEMORY}/steelyard-{os.geteuid()}-"
        if not directory.startswith(parent) or not is_session(directory.removeprefix(parent)):
            return f"{directory!r} is no directory that it makes"
        return None

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        directory = wanted["directory"]
        if wanted["kind"] is None:
            host.remove_tree(directory)
            return
        while mounted_kind(host, directory) is not None:
            host.unmount(directory)
        try:
            host.remove_directory(directory)
        except OSError as error:
            raise HostError(f"{directory} cannot be removed: {error.strerror}") from None

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        # The mount is gone; its empty folder is left where /run itself is on a disk.
        return previous if host.exists(wanted["directory"]) else None

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        return {"working_directory": wanted["directory"]}

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        return "not in use", "ok"


def mounted_kind(host: Host, directory: str) -> str | None:
    """The kind of file system that is mounted exactly on `directory`."""
    kind = None
    for line in (host.read("/proc/self/mountinfo") or "").splitlines():
        place, _, source = line.partition(" - ")
        if place.split()[4] == directory:
            kind = source.split()[0]
    return kind


def _kernel_release(host: Host) -> tuple[int, int]:
    parts = (host.read("/proc/sys/kernel/osrelease") or "0.0").split(".")
    return int(parts[0]), int(parts[1].split("-")[0])


KNOB = RamDisk()
