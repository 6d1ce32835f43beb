"""Transparent huge pages for all programs."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.setting import FileSetting
from steelyard.host.system import Host


class TransparentHugePages(FileSetting):
    """Whether memory comes in pieces of 2 MiB."""

    name = "transparent-hugepages"

    def paths(self, host: Host) -> Sequence[str]:
        return ["/sys/kernel/mm/transparent_hugepage/enabled"]


EXTENSION = TransparentHugePages()
