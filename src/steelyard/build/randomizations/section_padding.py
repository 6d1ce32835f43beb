"""Free bytes before each function, so many as is drawn."""

from __future__ import annotations

from dataclasses import replace

from steelyard.build.code_layout import Layout, Randomization
from steelyard.core.rng import derive_seed

# The line of the caches of x86-64 and most ARM processors: a function may then start anywhere
# in a line that its alignment allows.
LINE_BYTES = 64


def _arrange(layout: Layout, seed: int) -> Layout:
    return layout.with_order(
        replace(
            placed,
            padding_bytes=derive_seed(seed, placed.module.label, placed.section.name) % LINE_BYTES,
        )
        for placed in layout.placed()
    )


EXTENSION = Randomization(
    name="section-padding",
    description=f"0 to {LINE_BYTES - 1} free bytes before each function, drawn for each.",
    arrange=_arrange,
    orders="sections",
)
