"""The mean of a program whose precision ended the experiment."""

from math import sqrt

import pytest

from benchmarks.prove.judging import inference
from steelyard.analysis.comparison.metric_summary import skewness_of
from steelyard.analysis.comparison.stopping import Stopping
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.johnson import FARTHEST, reach
from steelyard.core.estimate import Estimate
from steelyard.core.stopping_spec import StoppingSpec

# Twenty-five runs, of which some take far longer.
VALUES = [1.0 + 0.01 * (i * 7 % 11) + 0.2 * (i % 6 == 5) for i in range(25)]
BY_PRECISION = StoppingSpec(precision_ratio=0.001, minimum_blocks=25)


def test_the_bound_on_the_side_of_the_tail_is_johnsons():
    count, quantile = len(VALUES), student_quantile(0.975, len(VALUES) - 1)
    mean = sum(VALUES) / count
    second, third = (sum((v - mean) ** power for v in VALUES) for power in (2, 3))
    variance = second / (count - 1)
    # Johnson (1978): x + m3 / (6 s^2 n) + m3 / (3 s^4) (x - mu)^2, q standard errors away.
    shift = third / count * (1 / (6 * variance * count) + quantile**2 / (3 * variance * count))
    half = quantile * sqrt(variance / count)
    found = inference(1, BY_PRECISION).mean(VALUES, dependent=False)
    assert isinstance(found, Estimate)
    assert found.method == "johnson-blocks"
    assert found.low == pytest.approx(mean - half, rel=1e-12)
    # Its third moment has n below, the variance n - 1: that differs by half of 1 / n.
    assert found.high == pytest.approx(mean + half + shift, rel=2e-3)


def test_the_other_bound_moves_where_the_tail_is_on_the_other_side():
    mirrored = [2.0 - value for value in VALUES]
    here = inference(1, BY_PRECISION).mean(VALUES, dependent=False)
    there = inference(1, BY_PRECISION).mean(mirrored, dependent=False)
    assert isinstance(here, Estimate)
    assert isinstance(there, Estimate)
    assert there.low == pytest.approx(2.0 - here.high)
    assert there.high == pytest.approx(2.0 - here.low)


def test_a_fixed_number_of_runs_keeps_students_interval():
    found = inference(1, StoppingSpec(runs=25), stopped="runs").mean(VALUES, dependent=False)
    assert isinstance(found, Estimate)
    assert found.method == "student-blocks"
    assert found.high - found.estimate == pytest.approx(found.estimate - found.low)


def test_the_rule_to_stop_asks_for_the_interval_that_the_answer_gives():
    rule = Stopping(BY_PRECISION, 1)
    for value in VALUES:
        rule.add_block([value])
    (looked,) = rule.look().intervals
    answered = inference(1, BY_PRECISION).mean(VALUES, dependent=False)
    assert isinstance(looked, Estimate)
    assert isinstance(answered, Estimate)
    assert (looked.low, looked.high) == pytest.approx((answered.low, answered.high), rel=1e-12)


def test_values_far_from_each_other_do_not_move_the_bound_without_end():
    assert reach(50.0, 2.0, 10) == FARTHEST
    assert reach(0.0, 2.0, 10) == 0.0
    assert reach(1.0, 2.0, 2) == 0.0


def test_the_skewness_that_is_kept_block_by_block_is_that_of_all_values():
    rule = Stopping(BY_PRECISION, 1)
    for value in VALUES:
        rule.add_block([value])
    assert rule.skewness() == pytest.approx(skewness_of(VALUES), rel=1e-12)
