"""Ways for very many values give what those for few give."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from steelyard.analysis.comparison import metric_summary, unit_values
from steelyard.analysis.comparison.unit_values import TopLevel, top_level
from steelyard.analysis.distributions import sorted_values
from steelyard.analysis.intervals import mean, paired_ratio
from steelyard.analysis.tests import independence
from tests.experiments import failed_trial, make_trial


def series(count, drift=0.0):
    draw = random.Random(7).gauss
    return [1.0 + draw(0, 0.1) + drift * place / count for place in range(count)]


def test_variance_and_autocorrelation_of_many_are_those_of_few(monkeypatch):
    values, others = series(1000), series(1000, drift=0.3)
    few = (
        mean.covariance_of(values, others),
        mean.variance_of(values),
        *(independence.autocorrelation(values, 10) or ()),
    )
    monkeypatch.setattr(mean, "MANY", 10)
    monkeypatch.setattr(independence, "MANY", 10)
    many = (
        mean.covariance_of(values, others),
        mean.variance_of(values),
        *(independence.autocorrelation(values, 10) or ()),
    )
    assert many == pytest.approx(few, rel=1e-9)


def test_order_skewness_and_contrasts_of_many_are_those_of_few(monkeypatch):
    values, others = series(1000), series(1000, drift=0.3)

    def found():
        return (
            mean.mean_of(values),
            mean.lowest_of(values),
            *sorted_values.sorted_values(values),
            metric_summary.skewness_of(values),
            *paired_ratio.contrasts_of(values, others),
        )

    few = found()
    for module in (mean, sorted_values, metric_summary, paired_ratio):
        monkeypatch.setattr(module, "MANY", 10)
    assert found() == pytest.approx(few, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("value", [0.1, 1e-9, 1 / 3, 7e17])
def test_many_values_that_are_alike_have_that_mean_and_no_variance(value):
    values = [value] * 100_003
    assert mean.mean_of(values) == value
    assert mean.variance_of(values) == 0.0


def test_many_values_that_are_alike_have_no_autocorrelation(monkeypatch):
    monkeypatch.setattr(independence, "MANY", 10)
    assert independence.autocorrelation([0.1] * 100, 3) is None


def test_the_trend_of_many_values_is_found_in_the_means_of_groups():
    assert independence.mann_kendall(series(20_001, drift=0.05)) < 1e-6
    assert independence.mann_kendall(series(20_001)) > 0.01


def test_means_of_groups_of_many_values_are_those_of_few(monkeypatch):
    values = series(1003)
    few = independence._group_means(values, 17)
    monkeypatch.setattr(independence, "MANY", 10)
    assert independence._group_means(values, 17) == pytest.approx(few, rel=1e-12)


def test_few_values_are_ranked_one_by_one(monkeypatch):
    values = series(100, drift=0.1)
    one_by_one = independence.mann_kendall(values)
    monkeypatch.setattr(independence, "MOST_RANKED", 100)
    assert independence.mann_kendall(values) == one_by_one


def test_pairs_that_rise_are_counted_alike_one_by_one_and_by_merging():
    draw = random.Random(3)
    for count in (1, 2, 3, 7, 64, 65, 300):
        for distinct in (1, 3, 1000):
            values = [float(draw.randrange(distinct)) for _ in range(count)]
            one_by_one = independence._rising_score(values)
            assert independence._rising_score_of_many(values) == one_by_one


def test_the_level_of_a_false_alarm_holds_for_means_of_groups(monkeypatch):
    monkeypatch.setattr(independence, "MOST_RANKED", 64)
    draw = random.Random(11)
    alarms = sum(
        independence.mann_kendall([draw.lognormvariate(0, 1) for _ in range(500)]) < 0.05
        for _ in range(1000)
    )
    # Of 1,000 draws at 5 %, 99.9 % lie within 30 and 73.
    assert 30 <= alarms <= 73


def test_of_many_trials_those_are_analysed_that_are_of_few(monkeypatch):
    trials = [replace(make_trial(place), levels=(place,), warmup=place < 4) for place in range(40)]
    del trials[7:9]
    trials[20] = failed_trial(20)
    few = [unit_values.analysed_trials(trials, variant) for variant in (0, 1)]
    monkeypatch.setattr(unit_values, "MANY", 5)
    many = [unit_values.analysed_trials(trials, variant) for variant in (0, 1)]
    assert [list(table) for table in many] == [list(table) for table in few]
    assert all(10 < len(table) < 20 for table in many)


def test_one_value_a_block_is_taken_as_it_is():
    trials = [make_trial(2 * block) for block in range(5)]
    level = top_level(trials, "wall_time")
    assert level == TopLevel(tuple(t.measurements["wall_time"][0] for t in trials), (0, 1, 2, 3, 4))
    assert top_level([*trials, trials[0]], "wall_time").units == (0, 1, 2, 3, 4)
