"""Objects in the reverse of the project's own order."""

from __future__ import annotations

from dataclasses import replace

from steelyard.build.code_layout import Layout, Randomization


def _arrange(layout: Layout, _seed: int) -> Layout:
    return replace(layout, modules=layout.modules[::-1])


EXTENSION = Randomization(
    name="link-order-reverse",
    description="Object files on the link line in the reverse of the project's own order.",
    arrange=_arrange,
    orders="objects",
    draws=False,
)
