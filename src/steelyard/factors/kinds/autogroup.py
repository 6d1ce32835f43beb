"""The scheduler's autogroup."""

from __future__ import annotations

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import draw_of, host_factor

EXTENSION = host_factor(
    "autogroup",
    "Whether CPUs are shared among sessions rather than programs: on or off.",
    one_of("on", "off"),
    draw_of("on", "off"),
)
