"""Exponential smoothing gives the forecasts and prediction intervals of R's HoltWinters."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.history.smoothing import double_smoothing, simple_smoothing

R = json.loads((Path(__file__).parent / "smoothing.json").read_text())
NORMAL_975 = 1.959963984540054
cases = pytest.mark.parametrize(
    "case", R["cases"], ids=lambda c: f"{c['name']} {'double' if c['double'] else 'simple'}"
)


def fit(case, **constants):
    values = np.array(case["values"])
    return (double_smoothing if case["double"] else simple_smoothing)(values, **constants)


@cases
def test_at_rs_constants_forecasts_and_intervals_are_rs(case):
    constants = {"alpha": case["alpha"]}
    if case["double"]:
        constants["beta"] = case["beta"]
    own = fit(case, **constants)
    first = 2 if case["double"] else 1
    np.testing.assert_allclose(own.forecasts[first:], case["fitted"], rtol=1e-9)
    for ahead, (middle, upper) in enumerate(zip(case["forecasts"], case["upper"], strict=True), 1):
        assert own.forecast(ahead) == pytest.approx(middle, rel=1e-9)
        reach = NORMAL_975 * own.variance(ahead) ** 0.5
        assert own.forecast(ahead) + reach == pytest.approx(upper, rel=1e-6)


@cases
def test_own_constants_have_errors_no_larger_than_rs(case):
    own = fit(case)
    errors = np.array(case["values"]) - own.forecasts
    assert float(errors @ errors) <= case["squares"] * (1 + 1e-6)
