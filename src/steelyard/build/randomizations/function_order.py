"""All functions of the program in a random order."""

from __future__ import annotations

from steelyard.build.code_layout import Layout, Randomization, shuffled


def _arrange(layout: Layout, seed: int) -> Layout:
    ordered = sorted(layout.placed(), key=lambda each: (each.module.label, each.section.name))
    return layout.with_order(shuffled(ordered, seed))


EXTENSION = Randomization(
    name="function-order",
    description="All functions of the program in a random order, whichever object they are of.",
    arrange=_arrange,
    orders="sections",
)
