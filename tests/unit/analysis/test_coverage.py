"""A quick version of `make prove`: coverage in a few hundred simulated experiments, fixed seeds."""

from dataclasses import replace

import pytest

pytest.importorskip("numpy")

from benchmarks.prove import fixed, stopped
from benchmarks.prove.judging import Tally

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


def test_means_that_no_caution_can_tell_hold_as_often_as_is_stated():
    mean, *_ = fixed.simulate("bimodal 80/20", "none", 10, 400)
    assert mean.coverage < 0.93
    assert mean.status == "stated"


def test_a_caution_that_is_given_to_most_answers_distinguishes_nothing():
    failing = Tally("ratio", ("normal 5 %", "linear", "10"), 1000, 850, 300, 700, 150)
    assert failing.status == "warned"
    assert replace(failing, failing_warned=50).status == "FAILED"
    clean = Tally("ratio", ("normal 5 %", "none", "10"), 1000, 950, 110, 850, 40)
    assert clean.status == "FAILED"
    assert replace(clean, warned=90).status == "held"


@pytest.mark.parametrize("variant_count", [1, 2, 4])
def test_stopping_by_precision_keeps_the_coverage(variant_count):
    (tally,) = stopped.simulate(variant_count, "normal 5 %", "none", 15, 400)
    assert tally.coverage > LOWEST
