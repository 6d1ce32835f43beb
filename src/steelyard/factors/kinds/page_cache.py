"""What of the program is in the page cache."""

from __future__ import annotations

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import draw_of, host_factor

EXTENSION = host_factor(
    "page-cache",
    "warm: the program's files have been read; cold: they are dropped; empty: the whole cache is.",
    one_of("warm", "cold", "empty"),
    draw_of("warm", "cold"),
)
