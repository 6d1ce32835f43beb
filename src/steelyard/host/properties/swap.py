"""Swap: a page that was written to a disk costs milliseconds when it is used again."""

from __future__ import annotations

import os
from typing import Any

from steelyard.core.errors import HostError
from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import host_factor
from steelyard.host.knob import Knob, Request, Severity
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

_SWAPS = "/proc/swaps"
# /proc/swaps writes these four bytes in octal (fs/seq_file.c, swap_show).
_ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))


class SwapKnob(Knob):
    """All swap areas. Not in the default set: without them a machine may run out of memory."""

    name = "swap"
    title = "swap"
    wanted_text = "off"
    order = 30

    def available(self, host: Host, request: Request) -> str | None:
        if not host.exists(_SWAPS):
            return "this kernel does not swap"
        return None if host.is_root else "only root may set it"

    def read(self, host: Host, request: Request) -> Any:
        return [[path, priority] for path, priority, _ in swap_areas(host)]

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return []

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        for path, _, _ in swap_areas(host):
            host.swap_off(path)
        return ()

    def verify(self, host: Host, wanted: Any) -> str | None:
        left = swap_areas(host)
        return f"{left[0][0]} is still in use" if left else None

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        for path, priority in previous:
            if not isinstance(priority, int) or not os.path.isabs(path):
                return f"{path!r} is no swap area"
            if not host.is_own_area(path):
                return f"{path!r} is a file that others may write"
        return None

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        active = {path: priority for path, priority, _ in swap_areas(host)}
        failures: list[str] = []
        # The kernel numbers areas without a priority of their own downwards as they come.
        for path, priority in sorted(previous, key=lambda area: -area[1]):
            if path in active:
                continue
            try:
                host.swap_on(path, priority)
            except OSError as error:
                failures.append(f"swapon {path}: {error.strerror}")
        if failures:
            raise HostError("; ".join(failures))

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        # Areas come back from fstab with the next start; what did not was switched on by hand.
        return previous

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        areas = swap_areas(host)
        if not areas:
            return "off", "ok"
        used_kib = sum(used for _, _, used in areas)
        text = f"{len(areas)} area{'s' if len(areas) > 1 else ''}, {used_kib // 1024} MiB used"
        return text, "warning" if used_kib else "info"

    def advice(self, host: Host, request: Request) -> str:
        return f"swapoff -a, or {super().advice(host, request)}"


def swap_areas(host: Host) -> list[tuple[str, int, int]]:
    """The areas in use as (path, priority, KiB used)."""
    areas: list[tuple[str, int, int]] = []
    for line in (host.read(_SWAPS) or "").splitlines()[1:]:
        fields = line.split()
        path = fields[0].removesuffix("\\040(deleted)")
        for escape, plain in _ESCAPES:
            path = path.replace(escape, plain)
        areas.append((path, int(fields[4]), int(fields[3])))
    return areas


KNOB = SwapKnob()


class SwapSetting(Setting):
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


SETTING = SwapSetting()


FACTOR = host_factor(
    "swap",
    "Whether the machine's swap areas are in use: on (as they are) or off.",
    one_of("on", "off"),
)
