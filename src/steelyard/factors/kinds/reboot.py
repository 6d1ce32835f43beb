"""A start of the machine before each trial."""

from __future__ import annotations

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import host_factor

EXTENSION = host_factor(
    "reboot",
    "Whether the machine is started anew before each trial: only a cluster can have it on.",
    one_of("on", "off"),
)
