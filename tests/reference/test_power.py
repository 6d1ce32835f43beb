"""Power against R's power.t.test (power.R printed the values)."""

import pytest

from steelyard.analysis.linear.power import (
    two_level_power,
    two_level_sample_size,
)

T_TEST = {0.5: 0.147021979790, 1: 0.437282020787, 2: 0.949438460265}


@pytest.mark.parametrize("change", T_TEST)
def test_two_levels_have_the_power_of_a_t_test(change):
    # Two points of 12 trials: 24 trials, two terms.
    found = two_level_power(change, 1.3, points=2, terms=2, replicates=12, confidence=0.95)
    assert found == pytest.approx(T_TEST[change], abs=1e-6)


def test_the_sample_size_is_the_least_that_reaches_the_power():
    found = two_level_sample_size(1.0, 1.3, 8, 8, power=0.8, confidence=0.95)
    before = two_level_power(1.0, 1.3, 8, 8, found.replicates - 1, 0.95)
    assert before < 0.8 <= found.power
    assert found.trials == 8 * found.replicates


def test_an_effect_that_is_too_small_has_no_sample_size():
    assert two_level_sample_size(1e-6, 1.0, 2, 2, 0.8, 0.95).replicates is None
