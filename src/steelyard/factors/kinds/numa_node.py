"""The NUMA nodes that memory comes from. Where the program runs is the factor `cpu`."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant
from steelyard.core.quantity import parse_cpus
from steelyard.factors.factor import Factor


def _normal(text: str) -> str:
    try:
        return ",".join(map(str, parse_cpus(text, "numa-node")))
    except UsageError:
        raise ValueError("it takes nodes such as 0 or 0,1") from None


def _apply(variant: Variant, level: str) -> Variant:
    nodes = parse_cpus(level, "numa-node")
    return replace(variant, launch=replace(variant.launch, memory_nodes=nodes))


EXTENSION = Factor(
    name="numa-node",
    description="The NUMA nodes that the program's memory comes from, such as 0 or 0,1.",
    part="launch",
    normal=_normal,
    apply=_apply,
)
