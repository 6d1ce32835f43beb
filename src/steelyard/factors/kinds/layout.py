"""The layout of a program that `steelyard cc` built (Curtsinger and Berger 2013)."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.core.layout_level import INTERVAL_VARIABLE, PARTS_VARIABLE, layout_level
from steelyard.factors.factor import Factor

# Nobody reads it: it makes up for the lengths of the others, so that the stack of the program
# starts at one place at every level.
_FILL_VARIABLE = "STEELYARD_LAYOUT_FILL"
_VALUES_BYTES = 64


def _apply(variant: Variant, level: str) -> Variant:
    wanted = layout_level(level)
    parts, interval = wanted.parts_text, wanted.interval_text
    ours = {
        PARTS_VARIABLE: parts,
        INTERVAL_VARIABLE: interval,
        _FILL_VARIABLE: "x" * (_VALUES_BYTES - len(parts) - len(interval)),
    }
    others = [item for item in variant.launch.environment if item[0] not in ours]
    environment = (*others, *ours.items())
    return replace(variant, launch=replace(variant.launch, environment=environment))


EXTENSION = Factor(
    name="layout",
    description="What moves in a program that steelyard cc built, and how often: none, all@500ms.",
    part="launch",
    normal=lambda text: str(layout_level(text)),
    apply=_apply,
)
