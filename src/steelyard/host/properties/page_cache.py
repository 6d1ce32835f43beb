"""What of a program is in the page cache when it starts."""

from __future__ import annotations

from typing import Any

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import draw_of, host_factor
from steelyard.host.cached_files import cached, drop, program_files, read_in
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

_DROP_CACHES = "/proc/sys/vm/drop_caches"
_ALL = "3"


class PageCache(Setting):
    """``warm``: the program's files have been read; ``cold``: they are dropped; ``empty``: the
    whole cache of the machine is. Nothing is put back: the cache fills itself and holds nothing
    that is not on a disk."""

    name = "page-cache"
    each_trial = True

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        if asked.level != "empty":
            return None
        if not host.is_root:
            return "only root may empty it; cold drops the program's own files"
        return None if host.writable(_DROP_CACHES) else f"{_DROP_CACHES} is read-only here"

    def read(self, host: Host, asked: Asked) -> Any:
        return None

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return {"level": asked.level, "files": list(program_files(asked.launch))}

    def apply(self, host: Host, wanted: Any) -> None:
        if wanted["level"] == "warm":
            read_in(wanted["files"])
            return
        if wanted["level"] == "empty":
            host.sync()
            host.write(_DROP_CACHES, _ALL)
        drop(wanted["files"])

    def realised(self, host: Host, wanted: Any) -> str:
        found = cached(wanted["files"])
        share = found.cached_bytes / found.size_bytes if found.size_bytes else 1.0
        return (
            f"{wanted['level']}: {100 * share:.0f} % of {found.size_bytes / 2**20:.1f} MiB "
            "in memory"
        )


SETTING = PageCache()


FACTOR = host_factor(
    "page-cache",
    "warm: the program's files have been read; cold: they are dropped; empty: the whole cache is.",
    one_of("warm", "cold", "empty"),
    draw_of("warm", "cold"),
)
