"""The start of the stack, moved without a change of arguments or environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, drawn_number, whole_number

# The launcher moves it through the path that the kernel puts on top of the stack.
_MOST_BYTES = 4000


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, stack_padding_bytes=int(level)))


def _draw(seed: int, options: Mapping[str, int]) -> str:
    return drawn_number(seed, options["minimum"], options["maximum"], options["step"])


EXTENSION = Factor(
    name="stack-start",
    description="Bytes by which the stack starts lower, with the same arguments and environment.",
    part="launch",
    normal=whole_number(0, _MOST_BYTES),
    apply=_apply,
    draw=_draw,
    draws={"minimum": 0, "maximum": _MOST_BYTES, "step": 16},
)
