"""Objects, and the members of the project's own archives, in a random order."""

from __future__ import annotations

from dataclasses import replace

from steelyard.build.code_layout import Layout, Randomization, shuffled


def _arrange(layout: Layout, seed: int) -> Layout:
    modules = sorted(layout.modules, key=lambda module: module.label)
    return replace(layout, modules=tuple(shuffled(modules, seed)))


EXTENSION = Randomization(
    name="link-order",
    description="Object files on the link line in a random order, code and data alike.",
    arrange=_arrange,
    orders="objects",
)
