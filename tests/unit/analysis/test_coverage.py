"""A quick version of `make prove`: coverage in a few hundred simulated experiments, fixed seeds."""

from dataclasses import replace

import pytest

from benchmarks.prove import fixed, stopped
from benchmarks.prove.fast import hold_to_the_real_tests, mann_kendall
from benchmarks.prove.judging import Tally
from benchmarks.prove.proof_page import is_above, is_below
from steelyard.analysis.tests import independence

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


def test_means_are_those_of_the_kinds_of_run_that_were_seen():
    mean, *_ = fixed.simulate("5 % outliers", "none", 10, 400)
    assert mean.coverage < 0.5
    assert mean.seen_coverage > LOWEST
    assert mean.status == "seen"


def test_a_mean_that_fails_for_the_kinds_seen_too_has_to_be_stated():
    mean = Tally("mean", ("two", "none", "10"), 10_000, 9_000, 9_200, 0, 9_000, 0)
    assert mean.status == "FAILED"
    assert replace(mean, covered_seen=9_400).status == "seen"
    assert (
        replace(mean, situation=("lognormal 50 %", "none", "20"), covered=9_200).status == "stated"
    )


def test_means_of_skewed_values_that_stop_by_precision_keep_the_coverage():
    (tally,) = stopped.simulate(1, "lognormal 50 %", "none", 15, 1500)
    assert tally.coverage > 0.93
    (tally,) = stopped.simulate(1, "bimodal 80/20", "none", 50, 1500)
    assert tally.coverage > 0.92


def test_a_bound_is_broken_only_beyond_chance():
    assert not is_below(930, 1000, 0.945)
    assert is_below(9300, 10_000, 0.945)
    assert is_above(700, 10_000, 0.06)
    assert not is_above(70, 1000, 0.06)


def test_the_tests_of_sequences_by_numpy_are_those_of_the_tool():
    hold_to_the_real_tests()
    ties = [float(i % 7) for i in range(100)]
    assert mann_kendall(ties) == independence.mann_kendall(ties)


def test_a_caution_that_is_given_to_most_answers_distinguishes_nothing():
    failing = Tally("ratio", ("normal 5 %", "linear", "10"), 1000, 850, 0, 300, 700, 150)
    assert failing.status == "warned"
    assert replace(failing, failing_warned=50).status == "FAILED"
    clean = Tally("ratio", ("normal 5 %", "none", "10"), 1000, 950, 0, 150, 850, 40)
    assert clean.status == "FAILED"
    assert replace(clean, warned=110).status == "held"


@pytest.mark.parametrize("variant_count", [1, 2, 4])
def test_stopping_by_precision_keeps_the_coverage(variant_count):
    (tally,) = stopped.simulate(variant_count, "normal 5 %", "none", 15, 400)
    assert tally.coverage > LOWEST
