"""Which start of the machine this is: addresses in the kernel hold for one."""

from __future__ import annotations

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


def boot_id() -> str:
    """What the kernel calls this start of the machine; empty where it does not say."""
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
