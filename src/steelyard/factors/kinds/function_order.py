"""The order of functions in the program."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.core.model import Variant
from steelyard.factors.builds import built, with_randomization
from steelyard.factors.factor import Factor
from steelyard.factors.seeded import numbered_seed, seeded_level


def _apply(variant: Variant, level: str) -> Variant:
    if level == "default":
        built(variant, "function-order")
        return variant
    return with_randomization(variant, "function-order", "function-order", numbered_seed(level))


def _draw(seed: int, options: Mapping[str, int]) -> str:
    return f"random:{1 + seed % options['orders']}"


EXTENSION = Factor(
    name="function-order",
    description="Order of all functions: default, or random:N, where N is its seed.",
    part="build",
    normal=seeded_level("default"),
    apply=_apply,
    draw=_draw,
    draws={"orders": 22},
)
