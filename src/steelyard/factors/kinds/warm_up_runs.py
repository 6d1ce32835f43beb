"""Executions right before the measured one (Oliveira 2015, section 5.4)."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, whole_number

_LIMIT = 1000


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, warmup_runs=int(level)))


EXTENSION = Factor(
    name="warm-up-runs",
    description="Executions right before each measured one, under the same conditions.",
    part="launch",
    normal=whole_number(0, _LIMIT),
    apply=_apply,
)
