"""Quantile regression of factorial tables against R's quantreg, where solutions are not unique."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.quantile.rank_inversion import RankProblem, equal_variances, rank_bound

CASES = json.loads((Path(__file__).parent / "quantile_factorial.json").read_text())["cases"]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda c: f"{len(c['y'])} rows, {len(c['low'])} effects, {c['tau']}"
)
def test_the_effects_and_bounds_of_a_factorial_table_are_those_of_r(case):
    matrix, values = np.array(case["x"]), np.array(case["y"])
    count, width = matrix.shape
    vertex = QuantileProblem(matrix, values).solve(case["tau"])
    assert vertex.coefficients == pytest.approx(case["coefficients"], abs=1e-6)
    if count == width:
        return
    ranks = RankProblem(matrix, values, case["tau"], vertex, equal_variances(matrix))
    cutoff = t_quantile(0.975, count - width)
    for column in range(width):
        for upwards, wanted in ((False, case["low"]), (True, case["high"])):
            found = rank_bound(ranks, column, cutoff, upwards)
            assert found == (
                None if wanted[column] is None else pytest.approx(wanted[column], abs=1e-4)
            )
