"""Quantile regression: exactness, ties, clusters, and designs that cannot answer."""

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.quantile.point_intervals import order_bounds, point_quantiles
from steelyard.analysis.quantile.vertex import best_vertex
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded
from tests.unit.analysis.trials_tables import question, table


def analyze(data, asked):
    return ANALYSES.get("quantile").analyze(data, asked)


def distances(matrix, values, coefficients, quantile):
    residuals = values - matrix @ coefficients
    return float((residuals * (quantile - (residuals < 0))).sum())


def test_without_factors_to_speak_of_it_is_the_sample_quantile():
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    found = best_vertex(np.ones((5, 1)), values, 0.5)
    assert found.coefficients == pytest.approx([3.0])


def test_no_solution_is_better_however_the_values_tie():
    generator = np.random.default_rng(1)
    matrix = np.column_stack([np.ones(40), np.repeat([-1.0, 1.0], 20)])
    values = generator.integers(0, 4, 40).astype(float)
    for quantile in (0.1, 0.5, 0.9):
        found = best_vertex(matrix, values, quantile).coefficients
        least = distances(matrix, values, found, quantile)
        for _ in range(200):
            other = found + generator.normal(scale=0.5, size=2)
            assert distances(matrix, values, other, quantile) >= least - 1e-9


@pytest.mark.parametrize("quantile", [0.02, 0.5, 0.99])
def test_many_rows_are_solved_as_exactly_as_few(quantile):
    generator = np.random.default_rng(2)
    matrix = np.column_stack([np.ones(6000), generator.normal(size=(6000, 2))])
    values = matrix @ [1.0, 2.0, -1.0] + generator.exponential(size=6000)
    found = QuantileProblem(matrix, values).solve(quantile).coefficients
    assert found == pytest.approx(best_vertex(matrix, values, quantile).coefficients, abs=1e-9)


def test_effects_that_only_the_slow_runs_have_are_seen():
    generator = np.random.default_rng(3)
    code = np.repeat([0.0, 1.0], 200)
    y = 10 + generator.exponential(size=400) * np.where(code, 4.0, 1.0)
    found = analyze(table(a=code, y=y), question("y", "a", quantiles=(0.1, 0.5, 0.9)))
    by_quantile = {e.quantile: e.effect for e in found.effects if e.term == "a"}
    assert by_quantile[0.1].estimate < by_quantile[0.5].estimate < by_quantile[0.9].estimate
    # Half the difference of the true quantiles, 3 log 10 and 3 log 2.
    assert by_quantile[0.9].low < 1.5 * np.log(10) < by_quantile[0.9].high
    assert by_quantile[0.5].low < 1.5 * np.log(2) < by_quantile[0.5].high
    figure = found.figures[0]
    assert figure.terms == ("(intercept)", "a")
    assert figure.estimates[1][2] == by_quantile[0.9].estimate


def test_rows_that_belong_together_widen_the_interval():
    generator = np.random.default_rng(4)
    execution = np.repeat(np.arange(40), 25)
    code = (execution % 2).astype(float)
    y = 10 + np.repeat(generator.normal(size=40), 25) + 0.1 * generator.normal(size=1000)
    data = table(a=code, run=[f"r{k}" for k in execution], y=y)
    alone = analyze(data, question("y", "a", quantiles=(0.5,)))
    together = analyze(data, question("y", "a", quantiles=(0.5,), cluster="run"))
    assert together.effects[1].effect.method == "cluster-bootstrap"
    assert together.effects[1].effect.half_width > 2 * alone.effects[1].effect.half_width
    again = analyze(data, question("y", "a", quantiles=(0.5,), cluster="run"))
    assert again.effects == together.effects


def test_any_number_of_clusters_will_do():
    generator = np.random.default_rng(5)
    data = table(a=np.tile([0, 1], 700), run=np.arange(1400), y=generator.normal(size=1400))
    found = analyze(data, question("y", "a", quantiles=(0.5,), intervals="sandwich", cluster="run"))
    assert found.effects[1].effect.method == "student-sandwich"


def test_too_few_rows_beyond_a_quantile_give_no_bound_and_a_word_about_it():
    generator = np.random.default_rng(6)
    data = table(a=np.repeat([0, 1], 5), y=generator.normal(size=10))
    found = analyze(data, question("y", "a", quantiles=(0.99,)))
    assert isinstance(found.effects[1].effect, Unbounded)
    assert found.effects[1].effect.reason == "too-few-rows"
    assert found.assumptions[0].holds is False


def test_a_constant_response_has_no_interval():
    data = table(a=np.repeat([0, 1], 5), y=np.full(10, 3.0))
    found = analyze(data, question("y", "a", quantiles=(0.5,)))
    assert {e.effect.reason for e in found.effects} == {"constant-response"}


def test_aliased_terms_are_named():
    generator = np.random.default_rng(7)
    a = np.tile([-1, -1, 1, 1], 10)
    b = np.tile([-1, 1, -1, 1], 10)
    data = table(a=a, b=b, c=a * b, y=generator.normal(size=40))
    found = analyze(data, question("y", "a,b,c", quantiles=(0.5,)))
    by_term = {e.term: e for e in found.effects}
    assert by_term["a"].aliases == ("b:c",)
    assert by_term["b:c"].effect.reason == "aliased"


def test_deciles_are_taken_unless_others_are_named():
    generator = np.random.default_rng(8)
    data = table(a=np.repeat([0, 1], 50), y=generator.normal(size=100))
    found = analyze(data, question("y", "a"))
    assert sorted({e.quantile for e in found.effects}) == pytest.approx(np.arange(1, 10) / 10)
    assert all(isinstance(e.effect, Estimate) for e in found.effects)


def test_a_kind_of_interval_that_is_not_known_is_an_error():
    data = table(a=[0, 1], y=[1.0, 2.0])
    with pytest.raises(AnalysisError, match="one of auto, rank"):
        analyze(data, question("y", "a", intervals="guess"))


def test_points_that_differ_in_spread_are_each_judged_by_their_own_order():
    generator = np.random.default_rng(9)
    code = np.repeat([0, 1], 20)
    y = generator.normal(size=40) * np.where(code, 5.0, 0.5)
    found = analyze(table(a=code, y=y), question("y", "a", quantiles=(0.5,)))
    assert found.effects[1].effect.method == "order-points"
    shifted = analyze(table(a=code, y=y + 40 * code), question("y", "a", quantiles=(0.5,)))
    assert shifted.effects[1].p < 1e-4
    covariate = analyze(
        table(a=code, x=np.arange(40), y=y), question("y", "a", quantiles=(0.5,), covariates="x")
    )
    assert covariate.effects[1].effect.method.startswith("rank")
    extreme = analyze(table(a=code, y=y), question("y", "a", quantiles=(0.95,)))
    assert extreme.effects[1].effect.method.startswith("rank")


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.8])
def test_order_statistics_bound_a_quantile_as_often_as_they_say(quantile):
    generator = np.random.default_rng(10)
    truth = -np.log(1 - quantile)
    held = 0
    for _ in range(1500):
        low, high = order_bounds(np.sort(generator.exponential(size=30)), quantile, 0.95)
        held += low <= truth <= high
    assert 0.93 < held / 1500 < 0.97


def test_the_level_of_a_point_interval_is_where_it_meets_zero():
    generator = np.random.default_rng(11)
    point = np.repeat([0, 1], 25)
    values = generator.normal(size=50) + 0.6 * point
    matrix = np.array([[1.0, -1.0], [1.0, 1.0]])
    fitted = np.array([np.median(values[point == k]) for k in (0, 1)])
    points = point_quantiles(matrix, point, values, np.linalg.solve(matrix, fitted), 0.5)
    p = points.p(1)
    low, high = points.bounds(1, 1 - p)
    assert min(abs(low), abs(high)) < 1e-3


def test_as_many_clusters_as_effects_leave_no_interval():
    """One execution at each level: whatever differs may be the execution."""
    generator = np.random.default_rng(5)
    data = table(
        a=[0] * 100 + [1] * 100,
        run=[0] * 100 + [1] * 100,
        y=np.concatenate([generator.normal(1, 0.1, 100), generator.normal(2, 0.1, 100)]),
    )
    found = analyze(data, question("y", "a", quantiles=(0.5,), cluster="run"))
    assert isinstance(found.effects[1].effect, Unbounded)
    assert found.effects[1].p is None


def test_a_model_without_effects_has_bounds():
    values = np.random.default_rng(4).exponential(size=30)
    found = analyze(table(a=["x"] * 30, y=values), question("y", "a", quantiles=(0.5,)))
    effect = found.effects[0].effect
    assert isinstance(effect, Estimate)
    assert effect.low < np.median(values) < effect.high


def test_values_that_tie_have_bounds_that_do_not_run_away():
    generator = np.random.default_rng(5)
    a = np.repeat([-1.0, 1.0], 24)
    y = np.round(10 + a + 2 * generator.exponential(size=48))
    asked = question("y", "a", quantiles=(0.25, 0.5, 0.9), intervals="rank-iid")
    for effect in analyze(table(a=a, y=y), asked).effects:
        assert isinstance(effect.effect, Estimate)
        assert effect.effect.high - effect.effect.low < 8
