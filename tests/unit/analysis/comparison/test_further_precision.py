"""What is left to a precision, against the rule that shrinks intervals by the square root."""

import pytest

from steelyard.analysis.comparison.further_precision import further_precision
from steelyard.analysis.intervals.mean import one_value
from steelyard.core.estimate import Estimate
from steelyard.core.stopping_spec import StoppingSpec


def estimate(value, half_width):
    return Estimate(value, value - half_width, value + half_width, 0.95, "m")


def found(intervals, relative=True):
    return further_precision(intervals, StoppingSpec(), 0.5, relative=relative)


def test_twice_too_wide_takes_about_three_times_the_runs_more():
    further = found([(estimate(2.0, 0.04), 400)])
    assert further.blocks == pytest.approx(1200, rel=0.01)
    assert further.time_s == further.blocks * 0.5
    assert further.precision_ratio == 0.01


def test_the_widest_of_several_decides():
    narrow, wide = (estimate(0.5, 0.01), 100), (estimate(2.0, 0.1), 100)
    assert found([narrow, wide], relative=False) == found([wide], relative=False)


def test_what_is_precise_enough_or_has_no_bounds_has_nothing_to_say():
    assert found([(estimate(2.0, 0.01), 400)]) is None
    assert found([(one_value(2.0, 0.95, "m"), 1)]) is None
    assert found([(estimate(0.0, 1.0), 10)]) is None
