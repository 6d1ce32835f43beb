"""The priority of the process."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, whole_number


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, nice=int(level)))


EXTENSION = Factor(
    name="nice",
    description="The niceness of the process, from -20 (needs root below 0) to 19.",
    part="launch",
    normal=whole_number(-20, 19),
    apply=_apply,
)
