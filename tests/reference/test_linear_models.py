"""Linear models against NIST's certified values and a published table."""

from math import log10
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.linear.design_least_squares import fit
from steelyard.analysis.linear.effects import common_spread
from steelyard.analysis.linear.model_matrix import Covariate, model_matrix
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.analysis_method import Question
from steelyard.store.data_table import read_data_table
from tests.reference.nist import ANOVA, REGRESSION

EXAMPLE = Path(__file__).parents[2] / "examples" / "factorial" / "compression.csv"


def digits(found: float, certified: float) -> float:
    """How many digits agree: NIST's logarithmic relative error, at most 15."""
    error = abs(found - certified) / (abs(certified) or 1.0)
    return 15.0 if error < 1e-15 else -log10(error)


# What a double can still hold of a sum of squares after 1e6 or 1e12 was added to the values.
HELD = {4: 8.9, 5: 8.9, 6: 8.9, 7: 2.9, 8: 2.9, 9: 2.9}


@pytest.mark.parametrize("case", ANOVA, ids=lambda case: case.name)
def test_the_certified_analyses_of_variance_of_nist(case):
    groups = np.array(case.groups)
    levels = tuple(str(level) for level in range(groups.max() + 1))
    found = fit(model_matrix([Factor("g", levels, groups)], [], 1, "coded"), np.array(case.values))
    wanted = HELD.get(int(case.name[-1]) if case.name[-1].isdigit() else 0, 12.5)
    between = found.total_squares - found.error_squares
    f = between / (len(levels) - 1) / found.error_variance
    assert digits(between, case.between) > wanted - 0.5
    assert digits(found.error_squares, case.within) > wanted - 0.5
    assert digits(f, case.f) > wanted - 0.5
    assert digits(found.r_squared, case.r_squared) > wanted - 0.5


# The hardest: a polynomial of degree 10 whose condition number is 1.8e15.
WANTED = {"Filip": 7.5}


@pytest.mark.parametrize("case", REGRESSION, ids=lambda case: case.name)
def test_the_certified_regressions_of_nist(case):
    columns = [Covariate(f"x{i}", np.array(column)) for i, column in enumerate(case.columns)]
    found = fit(model_matrix([], columns, 1, "coded"), np.array(case.values))
    wanted = WANTED.get(case.name, 9.0)
    for value, certified in zip(found.coefficients, case.coefficients, strict=True):
        assert digits(float(value), certified) > wanted
    if case.residual_deviation == 0:
        assert found.error_squares == pytest.approx(0.0, abs=1e-10)
        return
    spread = common_spread(found)
    for value, certified in zip(np.diag(spread.covariance), case.deviations, strict=True):
        assert digits(float(value) ** 0.5, certified) > wanted
    assert digits(found.error_variance**0.5, case.residual_deviation) > wanted
    assert digits(found.r_squared, case.r_squared) > wanted


# Oliveira, Measuring and Predicting Computer Software Performance (2015), Table 1.3.
TABLE_1_3 = {
    "compressor": ("-9.938343", "-8.0307", "-6.1230735", "1547.81"),
    "flag": ("-3.262593", "-1.3550", "0.5526765", "44.06"),
    "size_MB": ("7.974490", "9.8821", "11.7897598", "2343.75"),
    "compressor:flag": ("-6.626593", "-4.7190", "-2.8113235", "534.45"),
    "compressor:size_MB": ("-2.016676", "-0.1090", "1.7985932", "0.29"),
    "flag:size_MB": ("-3.554760", "-1.6471", "0.2605098", "65.11"),
    "compressor:flag:size_MB": ("-2.430760", "-0.5231", "1.3845098", "6.57"),
}


def printed(value: float, like: str) -> str:
    return f"{value:.{len(like.partition('.')[2])}f}"


def test_the_example_of_oliveira_to_every_printed_digit():
    asked = Question("seconds", ("compressor", "flag", "size_MB"))
    found = ANALYSES.get("anova").analyze(read_data_table(str(EXAMPLE)), asked)
    effects = {effect.term: effect for effect in found.effects}
    assert printed(effects.pop("(intercept)").effect.estimate, "33.502") == "33.502"
    for term, (low, estimate, high, squares) in TABLE_1_3.items():
        effect = effects[term]
        assert printed(effect.effect.low, low) == low
        assert printed(effect.effect.estimate, estimate) == estimate
        assert printed(effect.effect.high, high) == high
        assert printed(effect.sum_squares, squares) == squares
    assert printed(found.sources[-2].sum_squares, "310.95") == "310.95"
    assert printed(found.r_squared, "0.936") == "0.936"
    # Equation 1.2, and his marks of what is below 0.01.
    assert {term for term, effect in effects.items() if effect.p < 0.01} == {
        "compressor", "size_MB", "compressor:flag",
    }  # fmt: skip
    assert found.conclusion[0].startswith(
        "seconds = 33.502 - 8.031 compressor + 9.882 size_MB - 4.719 compressor:flag ("
    )
