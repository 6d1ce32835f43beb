"""Flags of the compiler."""

from __future__ import annotations

from steelyard.core.experiment_spec import Variant
from steelyard.factors.builds import COMPILER_FLAGS, with_flags
from steelyard.factors.factor import Factor, any_text


def _apply(variant: Variant, level: str) -> Variant:
    return with_flags(variant, "flags", COMPILER_FLAGS, level)


EXTENSION = Factor(
    name="flags",
    description="Flags added to CFLAGS, CXXFLAGS and FFLAGS of the build, such as -O2.",
    part="build",
    normal=any_text,
    apply=_apply,
)
