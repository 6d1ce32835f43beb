"""The order of object files on the link line (Mytkowicz 2010, chapter 4)."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.core.model import Variant
from steelyard.factors.builds import built, with_randomization
from steelyard.factors.factor import Factor
from steelyard.factors.seeded import numbered_seed, seeded_level

_NAMED = ("default", "alphabetical", "reverse")


def _apply(variant: Variant, level: str) -> Variant:
    if level in _NAMED:
        built(variant, "link-order")
        return with_randomization(variant, "link-order", f"link-order-{level}", None)
    return with_randomization(variant, "link-order", "link-order", numbered_seed(level))


def _draw(seed: int, options: Mapping[str, int]) -> str:
    return f"random:{1 + seed % options['orders']}"


EXTENSION = Factor(
    name="link-order",
    description="default, alphabetical, reverse, or random:N, where N is the seed of the order.",
    part="build",
    normal=seeded_level(*_NAMED),
    apply=_apply,
    draw=_draw,
    draws={"orders": 22},
)
