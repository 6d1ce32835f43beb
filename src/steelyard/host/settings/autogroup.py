"""The scheduler's autogroup."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.setting import FileSetting
from steelyard.host.system import Host

_TEXTS = {"off": "0", "on": "1"}
_LEVELS = {text: level for level, text in _TEXTS.items()}


class Autogroup(FileSetting):
    """Whether the sessions of a machine share its CPUs, rather than its programs."""

    name = "autogroup"

    def paths(self, host: Host) -> Sequence[str]:
        return ["/proc/sys/kernel/sched_autogroup_enabled"]

    def text(self, level: str) -> str:
        return _TEXTS[level]

    def level(self, text: str) -> str:
        return _LEVELS.get(text, text)


EXTENSION = Autogroup()
