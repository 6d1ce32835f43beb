"""The code of each object together, the objects in a random order."""

from __future__ import annotations

from steelyard.build.code_layout import Layout, Randomization, module_label, shuffled


def _arrange(layout: Layout, seed: int) -> Layout:
    modules = shuffled(sorted(layout.by_module(), key=module_label), seed)
    return layout.with_order(placed for module in modules for placed in module)


EXTENSION = Randomization(
    name="module-order",
    description="The code of each object stays together; the objects come in a random order, "
    "while their data stays where it was.",
    arrange=_arrange,
    orders="sections",
)
