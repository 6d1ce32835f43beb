"""The allocator of a dynamically linked program, by preloading another one."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, any_text

LIBC = "libc"


def _apply(variant: Variant, level: str) -> Variant:
    if level == LIBC:
        return variant
    environment = (*variant.launch.environment, ("LD_PRELOAD", level))
    return replace(variant, launch=replace(variant.launch, environment=environment))


EXTENSION = Factor(
    name="allocator",
    description="libc, or the path of a library that replaces malloc by preloading.",
    part="launch",
    normal=any_text,
    apply=_apply,
)
