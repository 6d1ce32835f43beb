"""Objects as the project links them: what the other orders are compared with."""

from __future__ import annotations

from steelyard.build.code_layout import Layout, Randomization


def _arrange(layout: Layout, _seed: int) -> Layout:
    return layout


EXTENSION = Randomization(
    name="link-order-default",
    description="Object files in the project's own order, which is recorded.",
    arrange=_arrange,
    orders="objects",
    draws=False,
)
