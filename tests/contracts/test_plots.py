"""What every plot keeps to, whoever wrote it."""

import re

import pytest

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.plots import PLOTS


@pytest.fixture(params=PLOTS.names())
def plot(request):
    return PLOTS.get(request.param)


def test_a_plot_describes_itself(plot):
    assert re.fullmatch(r"[a-z][a-z0-9-]*", plot.name)
    assert plot.title
    assert plot.caption.endswith(".")


def test_a_plot_of_nothing_is_no_plot(plot):
    nothing = Answer("comparison", "X", MetricSpec("wall_time", "s"), (), (), (), None)
    assert plot.panels(nothing) == []
    assert plot.table(nothing) is None


def test_a_plot_has_a_place_of_its_own(plot):
    assert [other.name for other in PLOTS if other.order == plot.order] == [plot.name]
