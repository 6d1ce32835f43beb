"""A start of the machine before each trial, which only a cluster can have."""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import HostError
from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import host_factor
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

_REASON = (
    "this machine runs the experiment and would end it; on a cluster, whose machines are started "
    "by another one, it can be"
)


class Reboot(Setting):
    """Refused here, by name; that nothing is started anew is how trials run in any case."""

    name = "reboot"

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        return _REASON if asked.level == "on" else None

    def read(self, host: Host, asked: Asked) -> Any:
        return {"boot": host.boot_id()}

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return previous if asked.level == "off" else {"boot": None}

    def apply(self, host: Host, wanted: Any) -> None:
        if wanted["boot"] is None:
            raise HostError(_REASON)

    def realised(self, host: Host, wanted: Any) -> str:
        return "off"


SETTING = Reboot()


FACTOR = host_factor(
    "reboot",
    "Whether the machine is started anew before each trial: only a cluster can have it on.",
    one_of("on", "off"),
)
