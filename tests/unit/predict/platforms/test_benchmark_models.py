"""An application explained by few benchmarks: against refitting, in batches, with twins."""

import numpy as np
import pytest

from steelyard.predict.platforms import benchmark_models as models
from tests.unit.predict.platforms.made_tables import low_rank_costs


def problem(hosts=9, benchmarks=7):
    costs = low_rank_costs(hosts, benchmarks + 1, noise=0.05)
    suite, response = costs[:, 1:], costs[:, 0].copy()
    response[[2, 6]] = np.nan
    return suite, response


def without(response, host):
    fewer = response.copy()
    fewer[host] = np.nan
    return fewer


def test_a_host_left_out_of_offsets_is_predicted_as_if_it_had_never_been_known():
    suite, response = problem()
    whole = dict(models.benchmark_models(suite, response))
    for host in np.flatnonzero(np.isfinite(response)):
        for name, found in models.benchmark_models(suite, without(response, host)):
            if name.startswith("benchmark-offset"):
                error = response[host] - found.values[host]
                assert whole[name].left_out[host] == pytest.approx(error, abs=1e-9)


def test_a_host_left_out_of_slopes_has_the_error_of_ordinary_least_squares(monkeypatch):
    monkeypatch.setattr(models, "PRIOR_SHARE", 0.0)
    monkeypatch.setattr(models, "LEAST_SHARE", 0.0)
    suite, response = problem()
    fits = models.fit_slopes(suite, response)
    known = np.flatnonzero(np.isfinite(response))
    for host in known:
        rest = known[known != host]
        for column in range(suite.shape[1]):
            slope, constant = np.polyfit(suite[rest, column], response[rest], 1)
            predicted = constant + slope * suite[host, column]
            assert fits.left_out[host, column] == pytest.approx(predicted, abs=1e-9)


def test_slopes_are_those_of_a_regression_drawn_to_one():
    suite, response = problem()
    known = np.isfinite(response)
    centred = suite[known] - suite[known].mean(axis=0)
    prior = models.PRIOR_SHARE * np.median((centred**2).sum(axis=0))
    for column in range(suite.shape[1]):
        # A row more for the prior: the square root of its weight, at a slope of 1.
        x = np.append(centred[:, column], np.sqrt(prior))
        y = np.append(response[known] - response[known].mean(), np.sqrt(prior))
        slope = x @ y / (x @ x)
        expected = response[known].mean() + slope * (suite[:, column] - suite[known, column].mean())
        found = models.fit_slopes(suite, response).values[:, column]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_batch_gives_what_each_gives_alone_whatever_the_size_of_a_turn(monkeypatch):
    suite, response = problem()
    other = without(response, 4)
    monkeypatch.setattr(models, "MOST_CELLS", 1)
    both = dict(models.benchmark_models(np.stack([suite, 2 * suite]), np.stack([response, other])))
    for at, alone in enumerate(
        (models.benchmark_models(suite, response), models.benchmark_models(2 * suite, other))
    ):
        for name, found in alone:
            np.testing.assert_allclose(both[name].values[at], found.values)
            np.testing.assert_allclose(both[name].left_out[at], found.left_out)


def test_a_twin_decides_where_there_is_one():
    suite, response = problem(benchmarks=12)
    truth = suite[:, 4] + 0.7
    response = np.where(np.isfinite(response), truth, np.nan)
    found = dict(models.benchmark_models(suite, response))
    for name in ("benchmark-offset-4", "benchmark-slope-4"):
        np.testing.assert_allclose(found[name].values, truth, atol=1e-3)


def test_two_known_hosts_are_enough_and_one_leaves_none_out():
    suite, response = problem()
    for count in (1, 2):
        few = response.copy()
        few[np.flatnonzero(np.isfinite(few))[count:]] = np.nan
        for _, found in models.benchmark_models(suite, few):
            assert np.isfinite(found.values).all()
            assert np.isfinite(found.left_out).sum() == (2 if count == 2 else 0)


def test_the_unit_of_costs_does_not_matter():
    suite, response = problem()
    alone = models.benchmark_models(suite, response)
    for (_, one), (_, small) in zip(
        alone, models.benchmark_models(1e-6 * suite, 1e-6 * response), strict=True
    ):
        np.testing.assert_allclose(small.values, 1e-6 * one.values, rtol=1e-6)
