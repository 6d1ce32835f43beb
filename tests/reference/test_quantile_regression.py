"""Quantile regression against R's quantreg (quantile_regression.R made the values)."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.quantile.interior_point import near_solution
from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.quantile.rank_inversion import (
    RankProblem,
    equal_variances,
    rank_bound,
    weighted_variances,
)
from steelyard.analysis.quantile.sandwich import densities, sandwich_covariance

CASES = json.loads((Path(__file__).parent / "quantile_regression.json").read_text())["cases"]


@pytest.fixture(params=CASES, ids=lambda case: f"{len(case['y'])} rows, {case['tau']}")
def case(request):
    return request.param


@pytest.fixture
def problem(case):
    return QuantileProblem(np.array(case["x"]), np.array(case["y"]))


def bounds(case, problem, variances):
    vertex = problem.solve(case["tau"])
    ranks = RankProblem(problem.matrix, problem.values, case["tau"], vertex, variances)
    count, width = problem.matrix.shape
    cutoff = t_quantile(0.975, count - width)
    return [
        [rank_bound(ranks, column, cutoff, upwards) for upwards in (False, True)]
        for column in range(width)
    ]


def test_the_coefficients_are_those_of_r(case, problem):
    found = problem.solve(case["tau"]).coefficients
    assert found == pytest.approx(np.array(case["coefficients"]), abs=1e-6)


def test_the_inner_way_ends_near_them(case, problem):
    found = near_solution(problem.matrix, problem.values, case["tau"])

    def distances(coefficients):
        residuals = problem.values - problem.matrix @ np.array(coefficients)
        return float((residuals * (case["tau"] - (residuals < 0))).sum())

    assert distances(found) == pytest.approx(distances(case["coefficients"]), rel=2e-3)


def test_the_inverted_rank_test_has_the_bounds_of_r(case, problem):
    found = bounds(case, problem, equal_variances(problem.matrix))
    assert np.array(found) == pytest.approx(np.array(case["iid"]), abs=1e-4)


def test_the_inverted_rank_test_for_unlike_rows_has_the_bounds_of_r(case, problem):
    density = densities(problem, case["tau"])
    found = bounds(case, problem, weighted_variances(problem.matrix, density))
    assert np.array(found) == pytest.approx(np.array(case["nid"]), abs=1e-4)


def test_the_sandwich_has_the_deviations_of_r(case, problem):
    density = densities(problem, case["tau"])
    covariance = sandwich_covariance(problem.matrix, density, case["tau"])
    found = np.sqrt(np.diag(covariance))
    assert found == pytest.approx(np.array(case["sandwich"]), rel=1e-5)
