"""The order of functions in the program."""

from __future__ import annotations

from steelyard.factors.seeded import seeded_factor

EXTENSION = seeded_factor(
    "function-order", "Order of all functions: default, or random:N, where N is its seed."
)
