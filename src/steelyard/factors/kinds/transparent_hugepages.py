"""Transparent huge pages."""

from __future__ import annotations

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import draw_of, host_factor

_LEVELS = ("always", "madvise", "never")

EXTENSION = host_factor(
    "transparent-hugepages",
    "Whether memory comes in huge pages: always, madvise (where asked for) or never.",
    one_of(*_LEVELS),
    draw_of(*_LEVELS),
)
