"""Prediction from kernels: against refitting, with missing values, in batches."""

import numpy as np
import pytest

from steelyard.predict.kriging import krige


def problem(seed=2):
    draw = np.random.default_rng(seed)
    factor = draw.normal(size=(8, 3))
    response = draw.normal(size=8)
    response[[1, 6]] = np.nan
    return factor @ factor.T, response


def test_what_is_left_out_is_predicted_as_if_it_had_never_been_observed():
    kernel, response = problem()
    whole = krige(kernel, response, 0.1)
    for host in np.flatnonzero(np.isfinite(response)):
        without = response.copy()
        without[host] = np.nan
        error = response[host] - krige(kernel, without, 0.1).values[host]
        assert whole.left_out[host] == pytest.approx(error, abs=1e-6)


def test_a_constant_added_to_the_response_is_added_to_every_prediction():
    kernel, response = problem()
    moved = krige(kernel, response + 5, 0.1).values
    np.testing.assert_allclose(moved, krige(kernel, response, 0.1).values + 5, atol=1e-6)


def test_a_batch_gives_what_each_gives_alone():
    kernel, response = problem()
    other = response.copy()
    other[0], other[1] = np.nan, 3.0
    both = krige(np.stack([kernel, 2 * kernel]), np.stack([response, other]), 0.1)
    np.testing.assert_allclose(both.values[0], krige(kernel, response, 0.1).values, atol=1e-6)
    np.testing.assert_allclose(both.values[1], krige(2 * kernel, other, 0.1).values, atol=1e-6)


def test_it_is_the_best_linear_unbiased_predictor():
    kernel, response = problem()
    known = np.flatnonzero(np.isfinite(response))
    k, n = kernel[np.ix_(known, known)] + 0.1 * np.eye(len(known)), len(known)
    bordered = np.block([[k, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    weights = np.linalg.solve(bordered, np.append(kernel[1, known], 1.0))[:n]
    assert krige(kernel, response, 0.1).values[1] == pytest.approx(weights @ response[known])
