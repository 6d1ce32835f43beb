"""Unbalanced designs and what a linear model rests on, against R (linear_models.R)."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.linear.box_cox import box_cox
from steelyard.analysis.linear.design_least_squares import fit
from steelyard.analysis.linear.diagnostics import diagnose
from steelyard.analysis.linear.effects import common_spread, robust_spread, sources_of
from steelyard.analysis.linear.model_matrix import Covariate, model_matrix
from steelyard.analysis.linear.table_factor import Factor

R = json.loads((Path(__file__).parent / "linear_models.json").read_text())
DESIGN, SLOPE = R["design"], R["slope"]


def factor(name, levels):
    codes = [levels.index(level) for level in DESIGN[name]]
    return Factor(name, tuple(levels), np.array(codes))


@pytest.fixture
def fitted():
    factors = [factor("a", ["high", "low"]), factor("b", ["x", "y", "z"])]
    return fit(model_matrix(factors, [], 2, "coded"), np.array(DESIGN["y"]))


@pytest.fixture
def sloped():
    columns = [Covariate(name, np.array(SLOPE[name])) for name in "xz"]
    return fit(model_matrix([], columns, 1, "coded"), np.array(SLOPE["w"]))


def test_an_unbalanced_design_has_the_effects_and_errors_of_r(fitted):
    assert fitted.coefficients == pytest.approx(np.array(DESIGN["coefficients"]), rel=1e-10)
    errors = np.sqrt(np.diag(common_spread(fitted).covariance))
    assert errors == pytest.approx(np.array(DESIGN["errors"]), rel=1e-10)


def test_its_sums_of_squares_are_those_of_type_three(fitted):
    found = sources_of(fitted, common_spread(fitted))[:3]
    assert [s.sum_squares for s in found] == pytest.approx(DESIGN["squares"], rel=1e-9)
    assert [s.statistic for s in found] == pytest.approx(DESIGN["f"], rel=1e-9)
    assert [s.p for s in found] == pytest.approx(DESIGN["p"], rel=1e-8)


def test_breusch_and_pagan_cook_and_the_outlier_are_those_of_r(fitted):
    found = diagnose(fitted)
    test = found.breusch_pagan
    assert [test.statistic, test.p] == pytest.approx(DESIGN["breusch_pagan"], rel=1e-9)
    assert found.largest_distance == pytest.approx(DESIGN["cook"], rel=1e-9)
    assert found.outlier[1] == pytest.approx(min(1.0, DESIGN["outlier"]), rel=1e-8)


def test_box_and_coxs_power_is_that_of_r(fitted):
    found = box_cox(fitted.model, np.array(DESIGN["y"]))
    assert found.power == pytest.approx(DESIGN["power"])
    assert [found.low, found.high] == pytest.approx(DESIGN["interval"])


def test_hc3_and_variance_inflation_are_those_of_r(sloped):
    spread = robust_spread(sloped)
    assert spread.method == "student-hc3"
    assert np.sqrt(np.diag(spread.covariance)) == pytest.approx(np.array(SLOPE["hc3"]), rel=1e-9)
    assert list(diagnose(sloped).inflation.values()) == pytest.approx(SLOPE["inflation"], rel=1e-9)


def test_two_replicated_points_have_welchs_interval():
    values = np.array([1.0, 2.0, 4.0, 3.0, 9.0, 20.0, 11.0])
    codes = np.array([0, 0, 0, 0, 1, 1, 1])
    found = fit(model_matrix([Factor("a", ("x", "y"), codes)], [], 1, "coded"), values)
    spread = robust_spread(found)
    parts = [values[codes == k].var(ddof=1) / (codes == k).sum() for k in (0, 1)]
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 2)
    assert spread.method == "welch-points"
    assert spread.covariance[1, 1] == pytest.approx(sum(parts) / 4)
    assert spread.degrees[1] == pytest.approx(degrees)
