"""Marks of calls that no learnt path needs, beside those that tell learnt paths apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from steelyard.analysis.paths.markable_calls import MarkableCalls
from steelyard.analysis.paths.marked_calls import LARGEST_NUMBER, Call, MarkedCalls
from steelyard.core.rng import derive_seed


def with_others(
    found: MarkedCalls, others: Sequence[MarkableCalls], seed: int, counts: Mapping[Call, int]
) -> MarkedCalls:
    """Marks of other calls beside those that were found.

    Parameters
    ----------
    found : MarkedCalls
    others : sequence of MarkableCalls
    seed : int
        Of the numbers of the calls.
    counts : mapping of Call to int
        How often calls were learnt.
    """
    draw = np.random.default_rng(derive_seed(seed, "other marks"))
    drawn = draw.integers(1, LARGEST_NUMBER, size=len(others)).tolist()
    numbers = {
        call: number for one, number in zip(others, drawn, strict=True) for call in one.calls
    }
    passed = sum(counts.get(call, 0) for call in numbers.keys() - found.numbers.keys())
    total = sum(counts.values())
    return replace(
        found,
        calls=tuple(sorted({*found.calls, *(numbers.keys() & counts.keys())})),
        passed_share=found.passed_share + (passed / total if total else 0.0),
        numbers={**numbers, **found.numbers},
        unlearnt_count=len(numbers.keys() - counts.keys()),
    )
