"""The functions of each object in a random order, the objects where they are."""

from __future__ import annotations

from steelyard.build.code_layout import Layout, Randomization, module_label, shuffled
from steelyard.core.rng import derive_seed


def _arrange(layout: Layout, seed: int) -> Layout:
    return layout.with_order(
        placed
        for module in layout.by_module()
        for placed in shuffled(
            sorted(module, key=lambda each: each.section.name),
            derive_seed(seed, module_label(module)),
        )
    )


EXTENSION = Randomization(
    name="function-order-within-module",
    description="The functions of each object in a random order; the objects stay where they are.",
    arrange=_arrange,
    orders="sections",
)
