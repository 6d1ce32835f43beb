"""The environment that shuffles the heap of a program and moves its stack."""

from __future__ import annotations

import pytest

from steelyard.core.errors import UsageError
from steelyard.layout.unbuilt_programs import PADDING_VARIABLE, randomised_environment


def test_the_stack_starts_elsewhere_by_the_seed() -> None:
    paddings = {
        len(randomised_environment(("stack",), seed, {})[PADDING_VARIABLE]) for seed in range(1, 20)
    }
    assert len(paddings) > 10
    assert all(padding % 16 == 0 and padding <= 4096 for padding in paddings)
    again = [randomised_environment(("stack",), 5, {}) for _ in range(2)]
    assert again[0] == again[1]


def test_code_takes_building() -> None:
    with pytest.raises(UsageError, match="steelyard cc"):
        randomised_environment(("code",), 1, {})
