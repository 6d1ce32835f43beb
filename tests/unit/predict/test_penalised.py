"""Ridge, elastic net and partial least squares on problems whose answer is known."""

import numpy as np
import pytest

from steelyard.predict.penalised import fit_elastic_net, fit_ridge
from steelyard.predict.pls_regression import fit_partial_least_squares

FITS = [fit_ridge, fit_elastic_net, fit_partial_least_squares]


def drawn(noise):
    draw = np.random.default_rng(6)
    x = draw.normal(size=(60, 8))
    return x, 3 + 2 * x[:, 1] - x[:, 4] + noise * draw.normal(size=60)


@pytest.mark.parametrize("fit", FITS)
def test_little_noise_leaves_the_true_coefficients(fit):
    x, y = drawn(0.01)
    found = fit(x, y)
    np.testing.assert_allclose(found.coefficients, [0, 2, 0, 0, -1, 0, 0, 0], atol=0.03)
    assert found.intercept == pytest.approx(3, abs=0.03)


@pytest.mark.parametrize("fit", FITS)
def test_more_predictors_than_observations_are_no_obstacle(fit):
    x, y = drawn(0.1)
    assert np.isfinite(fit(x[:5], y[:5]).predict(x)).all()


def test_the_elastic_net_meets_the_conditions_of_its_optimum():
    from steelyard.predict.penalised import ABSOLUTE_SHARE, NET_PENALTIES, _net_path

    x, y = drawn(1.0)
    standard = (x - x.mean(0)) / x.std(0)
    path = _net_path(standard, y - y.mean(), 2.0)
    for share, b in zip(NET_PENALTIES, path, strict=True):
        absolute, squared = 2 * share * ABSOLUTE_SHARE, 2 * share * (1 - ABSOLUTE_SHARE)
        slope = standard.T @ (y - y.mean() - standard @ b) / len(y) - squared * b
        np.testing.assert_allclose(slope[b != 0], absolute * np.sign(b[b != 0]), atol=1e-5)
        assert (np.abs(slope[b == 0]) <= absolute + 1e-5).all()
