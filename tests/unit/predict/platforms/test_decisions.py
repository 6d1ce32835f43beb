"""Choosing a host, measuring next, and what a suite lacks."""

import numpy as np
import pytest

from steelyard.core.errors import AnalysisError
from steelyard.predict.platforms.host_choice import choose_host, rate_candidates
from steelyard.predict.platforms.models import PLATFORM_MODELS
from steelyard.predict.platforms.next_measurement import next_measurements
from steelyard.predict.platforms.platform_answers import Asked
from steelyard.predict.platforms.suite_study import study_suite
from tests.unit.predict.platforms.made_tables import low_rank_costs, table_of

STACKING = PLATFORM_MODELS.get("stacking")


def hidden(costs, hosts):
    seen = costs.copy()
    seen[hosts, 0] = np.nan
    return table_of(seen)


def test_the_host_that_is_much_faster_is_chosen_with_certainty():
    costs = low_rank_costs(15, 20)
    costs[6] -= 3.0
    found = choose_host(hidden(costs, [2, 6, 9]), STACKING, Asked("b0"))
    assert found.candidates[0].answer.host == "host6"
    assert found.candidates[0].probability > 0.99
    assert found.candidates[0].regret_ratio < 0.01


def test_a_price_turns_the_choice():
    costs = low_rank_costs(15, 20)
    costs[6] -= 0.5
    table = hidden(costs, [6, 9])
    prices = np.ones(15)
    prices[6] = 50.0
    names = ["host6", "host9"]
    assert choose_host(table, STACKING, Asked("b0"), names, prices).candidates[0].answer.host == (
        "host9"
    )


def test_probability_and_regret_are_of_the_draws():
    probability, regret = rate_candidates(
        np.array([0.0, 0.0]), np.array([[np.log(1.2), 0.0], [0.0, 0.0], [0.0, np.log(1.4)]])
    )
    np.testing.assert_allclose(probability, [0.5, 0.5])
    np.testing.assert_allclose(regret, [0.4 / 3, 0.2 / 3])


def test_a_draw_that_errs_by_a_thousand_does_not_choose_alone():
    errors = np.zeros((100, 2))
    errors[0, 1] = np.log(1000)
    errors[1:, 0] = np.log(1.1)
    _, regret = rate_candidates(np.array([0.0, 0.0]), errors)
    assert regret[0] == pytest.approx(0.005)
    assert regret[1] == pytest.approx(0.099)


def test_one_candidate_is_no_choice():
    with pytest.raises(AnalysisError, match="at least two"):
        choose_host(table_of(low_rank_costs(8, 12)), STACKING, Asked("b0"), ["host1"])


def test_the_next_host_stands_for_a_family_that_is_not_known_yet():
    costs = low_rank_costs(12, 20, noise=0.02)
    costs[6:] += np.random.default_rng(5).normal(size=20) * 0.5
    found = next_measurements(hidden(costs, [4, 5, 6, 7, 8, 9, 10, 11]), "b0")
    assert int(found.hosts[0].host[4:]) >= 6
    assert found.hosts[0].doubt_ratio < found.hosts[-1].doubt_ratio < 1


def test_a_benchmark_that_the_application_follows_is_measured_first():
    costs = low_rank_costs(16, 12, noise=0.005)
    costs[:, 0] = costs[:, 7] + 1
    costs[15, [0, 5, 7, 9]] = np.nan
    found = next_measurements(table_of(costs), "b0")
    assert found.benchmarks[0].benchmark == "b7"
    assert found.benchmarks[0].error_ratio < 0.8


def test_nothing_is_left_to_measure_where_everything_was():
    with pytest.raises(AnalysisError, match="nothing is left"):
        next_measurements(table_of(low_rank_costs(6, 12)), "b0")


def test_where_no_other_benchmark_varies_none_says_where_to_measure():
    costs = np.zeros((6, 4))
    costs[:, 0] = np.arange(6)
    with pytest.raises(AnalysisError, match="beside b0 varies over hosts"):
        next_measurements(hidden(costs, [5]), "b0")


def test_a_table_with_one_benchmark_beside_the_application_is_no_ground_for_a_choice():
    with pytest.raises(AnalysisError, match="two benchmarks beside the application"):
        choose_host(hidden(low_rank_costs(6, 2), [5]), STACKING, Asked("b0"))


def test_a_copy_is_redundant_and_a_program_like_no_other_is_unrepresented():
    costs = low_rank_costs(14, 14, rank=2)
    costs[:, 3] = costs[:, 4] + 0.001 * np.random.default_rng(1).normal(size=14)
    costs[:, 8] = np.random.default_rng(2).normal(size=14)
    found = {part.benchmark: part for part in study_suite(table_of(costs), STACKING).parts}
    assert found["b8"].verdict == "unrepresented"
    assert "redundant" in {found["b3"].verdict, found["b4"].verdict}
    assert found["b3"].nearest == "b4"
