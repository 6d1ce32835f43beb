"""Files of the kernel: /proc and /sys, below a root that tests may replace."""

from __future__ import annotations

import os


class HostFiles:
    """Reads and writes the small files in which the kernel shows and takes its settings.

    Parameters
    ----------
    root : str
        Put before every path, so that a folder can stand for a machine. Empty: this machine.
    """

    def __init__(self, root: str = "") -> None:
        self.root = root

    def read(self, path: str, limit_bytes: int = 1 << 20) -> str | None:
        """The stripped text of `path`; None when it cannot be read.

        One system call reads up to `limit_bytes`: what /proc makes per CPU or per process
        is not made further than that.
        """
        try:
            fd = os.open(self.root + path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            parts: list[bytes] = []
            while limit_bytes > 0 and (part := os.read(fd, limit_bytes)):
                parts.append(part)
                limit_bytes -= len(part)
        except OSError:
            return None
        finally:
            os.close(fd)
        return b"".join(parts).decode("utf-8", "replace").strip()

    def write(self, path: str, text: str) -> None:
        """Write `text` in one call, as the kernel wants it. Never creates a file.

        Raises
        ------
        OSError
            The kernel refused; its errno says why.
        """
        fd = os.open(self.root + path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    def exists(self, path: str) -> bool:
        """Whether there is something at `path`."""
        return os.path.exists(self.root + path)

    def writable(self, path: str) -> bool:
        """Whether this user may write `path` (a read-only file system says no)."""
        return os.access(self.root + path, os.W_OK)

    def names(self, path: str) -> list[str]:
        """The names in the folder `path`, sorted; empty when there is no such folder."""
        try:
            return sorted(os.listdir(self.root + path))
        except OSError:
            return []

    def selected(self, path: str) -> str | None:
        """The choice in force in a file such as ``always [madvise] never``."""
        text = self.read(path)
        if text is not None and "[" in text:
            return text.partition("[")[2].partition("]")[0]
        return text
