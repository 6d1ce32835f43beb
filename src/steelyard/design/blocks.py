"""Orders of trials: randomised complete blocks, or one variant after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.core.rng import derive_seed


@dataclass(frozen=True)
class PlannedTrial:
    """One entry of a plan. Warm-ups count down from position -1, all others up from 0."""

    position: int
    block: int
    variant: int
    warmup: bool = False
    build: int = 0


def block_order(seed: int, block: int, variant_count: int) -> list[int]:
    """The order of the variants in a block: a uniform permutation, drawn from the seed.

    Sorting by independent random keys gives every permutation with equal probability, and
    block `n` does not depend on how many blocks were drawn before it, so that a resumed
    experiment keeps to its plan.
    """
    if variant_count == 1:
        return [0]
    return sorted(range(variant_count), key=lambda item: derive_seed(seed, "block", block, item))


def plan_block(seed: int, block: int, variant_count: int) -> list[PlannedTrial]:
    """The trials of one randomised complete block."""
    first = block * variant_count
    return [
        PlannedTrial(first + place, block, variant)
        for place, variant in enumerate(block_order(seed, block, variant_count))
    ]


def plan_run(block: int, variant: int, variant_count: int) -> PlannedTrial:
    """The `block`-th run of one variant, for the sequential order."""
    return PlannedTrial(block * variant_count + variant, block, variant)


def plan_warmups(
    seed: int, session: int, variant_count: int, warmup_count: int
) -> Iterator[PlannedTrial]:
    """The warm-up trials of a session: `warmup_count` of each variant, in blocks.

    `session` counts the times that the experiment was started or resumed, so that the warm-ups
    of each keep positions of their own.
    """
    per_session = variant_count * warmup_count
    position = -1 - session * per_session
    for repeat in range(warmup_count):
        for variant in block_order(derive_seed(seed, "warm-up", session), repeat, variant_count):
            yield PlannedTrial(position, -1, variant, warmup=True)
            position -= 1
