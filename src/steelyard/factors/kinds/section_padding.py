"""Padding between the sections of the program."""

from __future__ import annotations

from steelyard.factors.seeded import seeded_factor

EXTENSION = seeded_factor(
    "section-padding", "Random padding between sections: default (none), or random:N."
)
