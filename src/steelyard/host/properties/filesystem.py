"""The file system of the working directory: in memory, or in a file that is mounted as a disk.

The contents of the working directory, where one is named, are copied there first, so that relative
paths hold. What the program writes is gone afterwards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from steelyard.core.errors import HostError
from steelyard.core.install_hint import install_command
from steelyard.factors.host_levels import host_factor
from steelyard.host.properties.ramdisk import mounted_kind
from steelyard.host.session import is_session
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

AS_IS = "as-is"
IN_MEMORY = ("tmpfs", "ramfs")
_PACKAGES = {
    "btrfs": "btrfs-progs",
    "ext2": "e2fsprogs",
    "ext3": "e2fsprogs",
    "ext4": "e2fsprogs",
    "f2fs": "f2fs-tools",
    "vfat": "dosfstools",
    "xfs": "xfsprogs",
}
_IMAGES = "/var/tmp"
_MOUNT_PARENT = "/run"
_MIB = 1 << 20
# xfs takes no less than 300 MiB, btrfs 109 (mkfs.xfs(8), mkfs.btrfs(8)). The file is sparse.
_SMALLEST_MIB = 512


class FileSystem(Setting):
    """A working directory on a file system of its own, made for the trials at this level."""

    name = "filesystem"

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        kind = asked.level
        if kind == AS_IS:
            return None
        if not host.is_root:
            return "only root may mount one"
        known = {line.split()[-1] for line in (host.read("/proc/filesystems") or "").splitlines()}
        if kind not in known:
            return f"this kernel has no {kind}; `modprobe {kind}` loads it where there is a module"
        if kind in IN_MEMORY:
            return None
        if host.find_tool(f"mkfs.{kind}") is None:
            package = _PACKAGES.get(kind, f"the package with mkfs.{kind}")
            return f"mkfs.{kind} is not installed: {install_command(package)}"
        return None if host.exists("/dev/loop-control") else "this kernel has no loop devices"

    def read(self, host: Host, asked: Asked) -> Any:
        return {"directory": None}

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        if asked.level == AS_IS:
            return {"directory": None, "launch": asked.launch.working_directory}
        source = asked.launch.working_directory
        path = f"{_IMAGES}/steelyard-{asked.session}.image"
        return {
            "directory": f"{_MOUNT_PARENT}/steelyard-files-{asked.session}",
            "kind": asked.level,
            "image": None if asked.level in IN_MEMORY else path,
            "size_mib": _SMALLEST_MIB + 2 * (_tree_bytes(host, source) // _MIB if source else 0),
            "source": None if source is None else os.path.abspath(source),
        }

    def apply(self, host: Host, wanted: Any) -> None:
        directory, kind = wanted["directory"], wanted.get("kind")
        if directory is None:
            return
        for path in (directory, wanted["image"]):
            if path is not None and host.exists(path):
                raise HostError(f"{path} is there already and not ours")
        host.make_directory(directory, 0o755)
        if wanted["image"] is None:
            host.mount(kind, directory, "mode=0755")
        else:
            host.make_sparse_file(wanted["image"], wanted["size_mib"] * _MIB)
            _run(host, f"mkfs.{kind}", wanted["image"])
            _run(host, "mount", "-t", kind, "-o", "loop", wanted["image"], directory)
        if wanted["source"] is not None:
            host.copy_tree(wanted["source"], directory)

    def realised(self, host: Host, wanted: Any) -> str:
        if wanted["directory"] is None:
            place = host.mount_of(wanted["launch"] or os.getcwd())
            return f"{AS_IS}: {mounted_kind(host, place)}"
        return str(mounted_kind(host, wanted["directory"]))

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        directory = wanted["directory"]
        if directory is None:
            return None
        parent = f"{_MOUNT_PARENT}/steelyard-files-"
        session = directory.removeprefix(parent)
        if not directory.startswith(parent) or not is_session(session):
            return f"{directory!r} is no directory that it makes"
        if wanted["image"] not in (None, f"{_IMAGES}/steelyard-{session}.image"):
            return f"{wanted['image']!r} is no file that it makes"
        return None

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        directory = wanted["directory"]
        if directory is None:
            return
        while mounted_kind(host, directory) is not None:
            host.unmount(directory)
        try:
            host.remove_directory(directory)
            if wanted["image"] is not None:
                host.remove_file(wanted["image"])
        except OSError as error:
            raise HostError(f"{error.filename} cannot be removed: {error.strerror}") from None

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        # The mount is gone; the file is not.
        return previous

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        directory = wanted["directory"]
        return {} if directory is None else {"working_directory": directory}


def _tree_bytes(host: Host, source: str) -> int:
    return sum(
        os.lstat(os.path.join(folder, name)).st_size
        for folder, _, names in os.walk(host.root + source)
        for name in names
    )


def _run(host: Host, *argv: str) -> None:
    tool = host.find_tool(argv[0])
    status, output = host.run([tool or argv[0], *argv[1:]])
    if status != 0:
        last = output.splitlines()[-1] if output else f"status {status}"
        raise HostError(f"{argv[0]} fails: {last}")


SETTING = FileSystem()


def _level(text: str) -> str:
    if text != "as-is" and not re.fullmatch(r"[a-z][a-z0-9]*", text):
        raise ValueError("it takes as-is or a file system such as tmpfs, ext4 or btrfs")
    return text


FACTOR = host_factor(
    "filesystem",
    "The file system of the working directory: as-is, tmpfs, ramfs, or one that is made in a "
    "file and mounted, such as ext4.",
    _level,
)
