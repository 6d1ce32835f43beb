"""Bytes of environment, which move the start of the stack (Mytkowicz 2010, chapter 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, drawn_number, whole_number

# A page: beyond it the places of the stack within a page come again.
_MOST_BYTES = 4096
_LIMIT_BYTES = 1 << 20


def _apply(variant: Variant, level: str) -> Variant:
    launch = replace(variant.launch, environment_padding_bytes=int(level))
    return replace(variant, launch=launch)


def _draw(seed: int, options: Mapping[str, int]) -> str:
    return drawn_number(seed, options["minimum"], options["maximum"], options["step"])


EXTENSION = Factor(
    name="environment-size",
    description="Bytes added to the environment, which move the start of the stack.",
    part="launch",
    normal=whole_number(0, _LIMIT_BYTES),
    apply=_apply,
    draw=_draw,
    draws={"minimum": 0, "maximum": _MOST_BYTES, "step": 1},
)
