"""How long the delays of a causality check are."""

from dataclasses import dataclass

import pytest

from steelyard.app.profile.profiler_causality import CausalCheck, largest_turns
from steelyard.core.errors import UsageError


@dataclass
class Delayed:
    """A program of 2 s that each turn makes `turn_s` longer, in place of one that is run."""

    turn_s: float

    def plain_s(self, function: str, turns: int) -> float:
        del function
        return 2 + self.turn_s * turns


@pytest.mark.parametrize("growth_ratio", [0.3, 0.6, 2.0])
def test_the_largest_delay_makes_the_program_as_much_longer_as_was_asked(growth_ratio):
    turns = largest_turns(Delayed(1e-4), "hot", growth_ratio)
    assert turns * 1e-4 / 2 == pytest.approx(growth_ratio, rel=0.01)


def test_a_function_that_is_called_once_is_delayed_by_what_32_bits_hold():
    turns = largest_turns(Delayed(2e-9), "main", 0.6)
    assert turns * 2e-9 / 2 == pytest.approx(0.6, rel=0.01)
    assert turns < 2**31


def test_a_function_that_is_never_called_cannot_be_delayed():
    with pytest.raises(UsageError, match="it is not called"):
        largest_turns(Delayed(0.0), "cold", 0.6)


def test_java_is_delayed_by_more_than_native_programs_unless_told_otherwise(tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    assert CausalCheck((str(java), "Program")).largest_growth_ratio == 2.0
    assert CausalCheck(("/bin/true",)).largest_growth_ratio == 0.6
    assert CausalCheck((str(java), "Program"), growth_ratio=1.0).largest_growth_ratio == 1.0
