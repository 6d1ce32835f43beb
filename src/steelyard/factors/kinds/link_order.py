"""The order of object files on the link line (Mytkowicz 2010, chapter 4)."""

from __future__ import annotations

from steelyard.factors.seeded import seeded_factor

EXTENSION = seeded_factor(
    "link-order",
    "default, alphabetical, reverse, or random:N, where N is the seed of the order.",
    {name: f"link-order-{name}" for name in ("default", "alphabetical", "reverse")},
)
