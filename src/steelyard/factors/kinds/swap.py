"""Swap."""

from __future__ import annotations

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import host_factor

EXTENSION = host_factor(
    "swap",
    "Whether the machine's swap areas are in use: on (as they are) or off.",
    one_of("on", "off"),
)
