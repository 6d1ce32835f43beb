"""Page cache: what happens to be in it decides whether the first runs read from a disk."""

from __future__ import annotations

from typing import Any

from steelyard.host.knob import Knob, Request, Severity
from steelyard.host.system import Host

_PATH = "/proc/sys/vm/drop_caches"


class DropCaches(Knob):
    """Empties the page cache once, at the start. Not in the default set: it slows everybody.

    Nothing is put back, since the cache fills itself and holds nothing that is not on a disk.
    """

    name = "drop-caches"
    title = "page cache"
    wanted_text = "as it is, or emptied once"
    changes_host = False
    order = 70

    def available(self, host: Host, request: Request) -> str | None:
        if not host.is_root:
            return "only root may empty it"
        return None if host.writable(_PATH) else f"{_PATH} is read-only here"

    def read(self, host: Host, request: Request) -> Any:
        return {"emptied": False}

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return {"emptied": True}

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        # Only clean pages are dropped, so the others are written first.
        host.sync()
        host.write(_PATH, "3")
        return ()

    def verify(self, host: Host, wanted: Any) -> str | None:
        return None

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        return None

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        for line in (host.read("/proc/meminfo") or "").splitlines():
            if line.startswith("Cached:"):
                return f"{int(line.split()[1]) // 1024} MiB", "ok"
        return None, "ok"


KNOB = DropCaches()
