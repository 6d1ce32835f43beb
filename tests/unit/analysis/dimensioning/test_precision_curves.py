import numpy as np
import pytest

from steelyard.analysis.dimensioning.precision_curves import precision_curves, variance_shares
from steelyard.analysis.dimensioning.suggested_repetitions import dimensioning
from steelyard.analysis.variance.nested_values import nested_values
from steelyard.analysis.variance.variance_components import variance_components

COSTS_S = {"build": 90.0, "execution": 25.0, "iteration": 10.0}


def answer(costs_s=COSTS_S, counts=(8, 6, 5), deviations=(0.3, 0.3, 0.2)):
    generator = np.random.default_rng(4)
    labels = np.indices(counts).reshape(len(counts), -1)
    values = np.full(labels.shape[1], 10.0)
    keys = np.zeros(labels.shape[1], np.int64)
    columns = []
    for level, deviation in enumerate(deviations):
        keys = keys * counts[level] + labels[level]
        columns.append(keys.copy())
        values += generator.normal(0, deviation, keys.max() + 1)[keys]
    data = nested_values(list(COSTS_S)[: len(counts)], columns, values)
    return dimensioning(variance_components(data, 0.95), costs_s)


def half_width_at(curve, time_s):
    times = [point.time_s for point in curve.points]
    widths = [point.half_width_ratio for point in curve.points]
    return float(np.exp(np.interp(np.log(time_s), np.log(times), np.log(widths))))


def test_no_other_design_is_narrower_after_the_same_time():
    curves = {curve.name: curve for curve in precision_curves(answer())}
    assert list(curves) == ["optimum", "experiment", "top-only", "equal"]
    for time_s in (2e4, 5e4):
        best = half_width_at(curves["optimum"], time_s)
        for name in ("experiment", "top-only", "equal"):
            # Counts are whole, so that a design may come a little below the rounded optimum.
            assert best < 1.03 * half_width_at(curves[name], time_s)


def test_a_curve_goes_through_what_the_table_says():
    found = answer()
    optimum = precision_curves(found)[0]
    row = next(row for row in found.table if row.half_width_ratio == 0.025)
    assert row.time_s is not None
    assert half_width_at(optimum, row.time_s) == pytest.approx(0.025, rel=0.1)


def test_curves_fall_with_time():
    for curve in precision_curves(answer()):
        times = [point.time_s for point in curve.points]
        widths = [point.half_width_ratio for point in curve.points]
        assert times == sorted(times)
        assert widths == sorted(widths, reverse=True)


def test_one_level_alone_has_no_other_design():
    found = answer({"build": 5.0}, counts=(8,), deviations=(0.3,))
    assert [curve.name for curve in precision_curves(found)] == ["optimum", "experiment"]


def test_without_costs_there_is_no_curve():
    assert precision_curves(answer({"iteration": 10.0})) == ()


def test_shares_of_the_variance_add_up_to_one():
    shares = variance_shares(answer())
    assert list(shares) == ["build", "execution", "iteration"]
    assert sum(shares.values()) == pytest.approx(1)
    # True shares are 9:9:4; so few builds leave them uncertain.
    assert shares["iteration"] < 0.4


def test_where_nothing_varies_there_are_no_shares():
    assert variance_shares(answer(deviations=(0, 0, 0))) == {}
