"""The CPUs that the program may use."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant
from steelyard.core.quantity import parse_cpus
from steelyard.factors.factor import Factor


def _normal(text: str) -> str:
    try:
        return ",".join(map(str, parse_cpus(text, "cpu")))
    except UsageError:
        raise ValueError("it takes CPUs such as 1 or 0,2-3") from None


def _apply(variant: Variant, level: str) -> Variant:
    return replace(variant, launch=replace(variant.launch, cpus=parse_cpus(level, "cpu")))


EXTENSION = Factor(
    name="cpu",
    description="The CPUs that the program may use, such as 1 or 0,2-3.",
    part="launch",
    normal=_normal,
    apply=_apply,
)
