"""Randomisation of addresses by the kernel."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, one_of


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, aslr=level == "on"))


EXTENSION = Factor(
    name="aslr",
    description="Whether the kernel randomises addresses: on or off.",
    part="launch",
    normal=one_of("on", "off"),
    apply=_apply,
    draw=lambda seed, _: ("on", "off")[seed % 2],
)
