import pytest

from steelyard.analysis.intervals.mean import one_value
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.texts.live_look import look_text

TIME = MetricSpec("wall_time", "s")


def estimate(value, half_width):
    return Estimate(value, value - half_width, value + half_width, 0.95, "m")


def test_from_the_third_run_on_the_mean_stands_with_its_precision():
    assert look_text(TIME, [estimate(0.5, 0.02)], 3, compares=False) == "wall_time 500.0 ms ± 4.0 %"


@pytest.mark.parametrize("found", [one_value(0.5, 0.95, "m"), estimate(0.5, 4.0)])
def test_the_first_two_runs_give_a_value_without_an_interval(found):
    assert look_text(TIME, [found], 2, compares=False) == "wall_time 500.0 ms"


def test_nothing_is_said_before_the_first_run():
    assert look_text(TIME, [one_value(None, 0.95, "m")], 0, compares=False) == ""


def test_of_a_comparison_the_ratio_is_shown_and_of_many_the_widest():
    close, wide = estimate(0.5, 0.01), estimate(2.0, 0.3)
    assert look_text(TIME, [close], 9, compares=True) == "ratio 0.500 [0.490, 0.510]"
    assert look_text(TIME, [close, wide], 9, compares=True) == "2 ratios, the widest ± 30.0 %"


def test_a_mean_of_nothing_has_no_relative_precision():
    count = MetricSpec("faults", "count")
    assert look_text(count, [estimate(0.0, 0.0)], 9, compares=False) == "faults 0.000"
