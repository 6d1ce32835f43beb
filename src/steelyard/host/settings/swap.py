"""Swap: whether the areas that are in use stay so."""

from __future__ import annotations

from typing import Any

from steelyard.host.knobs.swap import EXTENSION as KNOB
from steelyard.host.knobs.swap import swap_areas
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host


class Swap(Setting):
    """All swap areas of the machine."""

    name = "swap"

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        if not host.exists("/proc/swaps"):
            return "this kernel does not swap"
        if not host.is_root:
            return "only root may set it"
        if asked.level == "on" and not swap_areas(host):
            return "no swap area is in use that could be on; switch one on first (swapon)"
        return None

    def read(self, host: Host, asked: Asked) -> Any:
        return [[path, priority] for path, priority, _ in swap_areas(host)]

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return previous if asked.level == "on" else []

    def apply(self, host: Host, wanted: Any) -> None:
        if not wanted:
            KNOB.apply(host, wanted)

    def realised(self, host: Host, wanted: Any) -> str:
        return "on" if swap_areas(host) else "off"

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        KNOB.restore(host, previous, wanted)

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        return KNOB.foreign(host, previous, wanted)

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        return KNOB.left_by_boot(host, previous, wanted)


EXTENSION = Swap()
