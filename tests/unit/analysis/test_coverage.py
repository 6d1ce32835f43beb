"""A quick version of `make prove`: coverage in a few hundred simulated experiments, fixed seeds."""

import pytest

pytest.importorskip("numpy")

from benchmarks.prove import fixed, stopped

# Four standard errors of a coverage of 95 % in 400 experiments: 4.4 %.
LOWEST = 0.95 - 0.044


@pytest.mark.parametrize("drift", fixed.DRIFTS)
def test_ratios_hold_the_truth_in_every_drift(drift):
    _, ratio, *_ = fixed.simulate("normal 5 %", drift, 30, 400)
    assert ratio.coverage > LOWEST


def test_means_of_normal_values_hold_the_truth():
    mean, *_ = fixed.simulate("normal 5 %", "none", 30, 400)
    assert LOWEST < mean.coverage < 0.99
    assert mean.warned_share < 0.15


def test_means_that_do_not_hold_are_warned_of():
    mean, *_ = fixed.simulate("bimodal 80/20", "none", 10, 400)
    assert mean.coverage < 0.93
    assert mean.warned_share == 1.0


@pytest.mark.parametrize("variant_count", [1, 2, 4])
def test_stopping_by_precision_keeps_the_coverage(variant_count):
    (tally,) = stopped.simulate(variant_count, "normal 5 %", "none", 15, 400)
    assert tally.coverage > LOWEST
