"""Objects in the order of their names."""

from __future__ import annotations

from dataclasses import replace

from steelyard.build.code_layout import Layout, Randomization


def _arrange(layout: Layout, _seed: int) -> Layout:
    return replace(layout, modules=tuple(sorted(layout.modules, key=lambda each: each.label)))


EXTENSION = Randomization(
    name="link-order-alphabetical",
    description="Object files on the link line in the order of their names.",
    arrange=_arrange,
    orders="objects",
    draws=False,
)
