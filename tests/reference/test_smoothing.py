"""Exponential smoothing gives the forecasts and prediction intervals of R's HoltWinters."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.analysis.history.exponential_smoothing import (
    DOUBLE,
    SIMPLE,
    begin_double,
    begin_simple,
)

R = json.loads((Path(__file__).parent / "smoothing.json").read_text())
NORMAL_975 = 1.959963984540054
cases = pytest.mark.parametrize(
    "case", R["cases"], ids=lambda c: f"{c['name']} {'double' if c['double'] else 'simple'}"
)


def smoothed(case, constants):
    """The state after all values, and the forecast of each by those before it."""
    values, first = np.array(case["values"]), 2 if case["double"] else 1
    state = (begin_double if case["double"] else begin_simple)(values, constants)
    forecasts = []
    for value in values[first:].tolist():
        forecasts.append(state.forecast())
        state = state.after(value)
    return state, forecasts


@cases
def test_at_rs_constants_forecasts_and_intervals_are_rs(case):
    state, forecasts = smoothed(case, np.array([[case["alpha"], case["beta"] or 0.0]]))
    np.testing.assert_allclose(forecasts, case["fitted"], rtol=1e-9)
    assert state.squares[0] == pytest.approx(case["squares"], rel=1e-6)
    for ahead, (middle, upper) in enumerate(zip(case["forecasts"], case["upper"], strict=True), 1):
        assert state.forecast(ahead) == pytest.approx(middle, rel=1e-9)
        reach = NORMAL_975 * state.variance(ahead) ** 0.5
        assert state.forecast(ahead) + reach == pytest.approx(upper, rel=1e-6)


@cases
def test_the_best_of_our_constants_is_nearly_as_good_as_rs(case):
    state, _ = smoothed(case, DOUBLE if case["double"] else SIMPLE)
    assert state.squares[state.best] <= case["squares"] * (1.05 if case["double"] else 1.002)
