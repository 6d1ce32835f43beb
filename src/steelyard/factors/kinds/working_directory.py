"""The directory that the program works in, and so its file system."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, any_text


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, working_directory=level))


EXTENSION = Factor(
    name="working-directory",
    description="The directory of each trial; one on another file system compares those.",
    part="launch",
    normal=any_text,
    apply=_apply,
)
