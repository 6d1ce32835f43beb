"""The start of the stack, held at one place whatever the size of the environment.

The intervention of Mytkowicz (2010), section 4.6.2: with the stack always starting at the same
place, the size of the environment can no longer act through it.
"""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, whole_number

# The launcher makes up for a smaller environment through the path of the program, whose length
# the kernel limits.
_MOST_BYTES = 4000


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, stack_hold_bytes=int(level)))


EXTENSION = Factor(
    name="stack-hold",
    description="Where the stack starts, in bytes lower, whatever the size of the environment.",
    part="launch",
    normal=whole_number(0, _MOST_BYTES),
    apply=_apply,
)
