"""Padding between the sections of the program."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.core.model import Variant
from steelyard.factors.builds import built, with_randomization
from steelyard.factors.factor import Factor
from steelyard.factors.seeded import numbered_seed, seeded_level


def _apply(variant: Variant, level: str) -> Variant:
    if level == "default":
        built(variant, "section-padding")
        return variant
    return with_randomization(variant, "section-padding", "section-padding", numbered_seed(level))


def _draw(seed: int, options: Mapping[str, int]) -> str:
    return f"random:{1 + seed % options['orders']}"


EXTENSION = Factor(
    name="section-padding",
    description="Random padding between sections: default (none), or random:N.",
    part="build",
    normal=seeded_level("default"),
    apply=_apply,
    draw=_draw,
    draws={"orders": 22},
)
