"""A shift of the clocks that count from boot, by a time namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, drawn_number, whole_number

# The kernel takes no more than half of what its clocks can hold, which is 146 years
# (kernel/time/namespace.c, proc_timens_set_offset).
_LIMIT_S = 4_000_000_000
_YEAR_S = 31_536_000


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, clock_shift_s=int(level)))


def _draw(seed: int, options: Mapping[str, int]) -> str:
    return drawn_number(seed, options["minimum"], options["maximum"], options["step"])


EXTENSION = Factor(
    name="clock-shift",
    description="Seconds by which CLOCK_MONOTONIC and CLOCK_BOOTTIME are later for the program; "
    "the time of day is not shifted.",
    part="launch",
    normal=whole_number(0, _LIMIT_S),
    apply=_apply,
    draw=_draw,
    draws={"minimum": 0, "maximum": _YEAR_S, "step": 1},
)
