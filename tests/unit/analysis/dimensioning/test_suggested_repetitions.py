from itertools import product
from math import inf, sqrt

import numpy as np
import pytest

from benchmarks.prove.dimensioned import SITUATIONS, savings, simulate
from steelyard.analysis.dimensioning.repetition_counts import (
    optimal_counts,
    rounded_up,
    top_variance,
    unit_time_s,
)
from steelyard.analysis.dimensioning.suggested_repetitions import dimensioning
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.variance.nested_values import nested_values
from steelyard.analysis.variance.variance_components import variance_components

NAMES = ("machine", "build", "execution", "iteration")


def components(values):
    values = np.asarray(values, dtype=float)
    labels = [place.ravel().astype(np.int64) for place in np.indices(values.shape)]
    data = nested_values(NAMES[-values.ndim :], labels, values.ravel())
    return variance_components(data, 0.95)


def drawn(counts, deviations, seed=1, mean=10.0):
    generator = np.random.default_rng(seed)
    values = np.full(counts, mean)
    for depth, deviation in enumerate(deviations):
        shape = (*counts[: depth + 1], *[1] * (len(counts) - depth - 1))
        values = values + deviation * generator.standard_normal(shape)
    return values


def codes(answer):
    return [caution.code for caution in answer.cautions]


def best_by_search(variances, costs_s, most):
    """The least time x variance over all whole counts."""
    counts = product(range(1, most + 1), repeat=len(variances) - 1)
    return min(top_variance(variances, c) * unit_time_s(costs_s, c) for c in counts)


@pytest.mark.parametrize(
    ("variances", "costs_s"),
    [
        ((1.0, 4.0, 9.0), (50.0, 5.0, 1.0)),
        ((4.0, 0.01, 9.0), (20.0, 5.0, 1.0)),
        ((4.0, -0.5, 9.0), (20.0, 5.0, 1.0)),
        ((4.0, 9.0, 0.01), (20.0, 5.0, 1.0)),
        ((1.0, 0.1, 0.02, 9.0), (90.0, 20.0, 5.0, 1.0)),
    ],
)
def test_the_counts_are_about_as_good_as_the_best_of_all(variances, costs_s):
    counts = [rounded_up(count) for count in optimal_counts(variances, costs_s)]
    clipped = [max(0.0, variance) for variance in variances]
    reached = top_variance(clipped, counts) * unit_time_s(costs_s, counts)
    assert reached <= 1.12 * best_by_search(clipped, costs_s, 30)


def test_no_finer_count_is_better_than_the_exact_one():
    variances, costs_s = (2.0, 0.05, 3.0, 8.0), (90.0, 20.0, 5.0, 1.0)
    counts = optimal_counts(variances, costs_s)

    def product_of(c):
        spread = variances[0] + variances[1] / c[0]
        spread += variances[2] / (c[0] * c[1]) + variances[3] / (c[0] * c[1] * c[2])
        time_s = costs_s[0] + c[0] * (costs_s[1] + c[1] * (costs_s[2] + c[2] * costs_s[3]))
        return spread * time_s

    best = product_of(counts)
    for factors in product((0.97, 1.0, 1.03), repeat=3):
        nearby = [max(1.0, c * f) for c, f in zip(counts, factors, strict=True)]
        assert product_of(nearby) >= best * (1 - 1e-12)


def test_a_dropped_level_hands_its_cost_to_the_level_above():
    assert optimal_counts((4.0, 0.0, 9.0), (30.0, 6.0, 1.0)) == pytest.approx((1.0, 9.0))
    assert optimal_counts((4.0, 9.0), (36.0, 1.0)) == pytest.approx((9.0,))


def test_nothing_above_leaves_the_count_without_bound():
    assert optimal_counts((0.0, 1.0), (5.0, 1.0)) == (inf,)


def test_a_count_that_is_whole_stays():
    assert rounded_up(sqrt(0.49) / 0.1) == 7
    assert rounded_up(3.0001) == 4
    assert rounded_up(0.2) == 1


def test_the_time_of_a_unit_holds_all_that_is_in_it():
    assert unit_time_s((100.0, 10.0, 1.0), (3, 4)) == 100 + 3 * (10 + 4 * 1)
    assert unit_time_s((2.5,), ()) == 2.5


def test_the_table_is_students_half_width_at_the_optimal_counts():
    found = components(drawn((30, 30), (0.5, 1.0)))
    answer = dimensioning(found, {"execution": 40.0, "iteration": 10.0})
    execution, iteration = (level.variance.estimate for level in found.levels)
    count = rounded_up(sqrt(4 * iteration / execution))
    assert answer.plans[1].optimal_count == count == answer.counts["iteration"]
    assert answer.plans[0].optimal_count is None
    assert answer.unit_time_s == 40 + count * 10
    deviation = sqrt(execution + iteration / count) / found.mean.estimate
    for row in answer.table:
        at = [student_quantile(0.975, r - 1) * deviation / sqrt(r) for r in range(2, 1001)]
        fewest = [
            next((r for r, h in enumerate(at, 2) if r >= 5 and w * h <= row.half_width_ratio), None)
            for w in (1, sqrt(2))
        ]
        assert [row.count, row.ratio_count] == fewest
        times_s = [r and n * r * answer.unit_time_s for r, n in zip(fewest, (1, 2), strict=True)]
        assert [row.time_s, row.ratio_time_s] == times_s


def test_it_is_never_fewer_than_5_and_no_number_past_1000():
    steady = dimensioning(components(drawn((20, 5), (0.001, 0.001))), {})
    assert [row.count for row in steady.table] == [5] * 5
    wild = dimensioning(components(drawn((20,), (9.0,))), {"iteration": 1.0})
    assert wild.table[0].count is None
    assert wild.table[0].time_s is None


def test_a_budget_buys_the_half_width_of_the_units_that_fit():
    found = components(drawn((30, 30), (0.5, 1.0)))
    answer = dimensioning(found, {"execution": 40.0, "iteration": 10.0}, 1000.0)
    bought = answer.purchase
    assert bought.count == int(1000 / answer.unit_time_s)
    assert bought.ratio_count == int(500 / answer.unit_time_s)
    again = next(row for row in answer.table if row.half_width_ratio >= bought.half_width_ratio)
    assert again.count <= bought.count
    poor = dimensioning(found, {"execution": 40.0, "iteration": 10.0}, 60.0).purchase
    assert (poor.half_width_ratio, poor.ratio_half_width_ratio) == (None, None)


def test_without_costs_the_table_goes_by_the_counts_of_the_experiment():
    answer = dimensioning(components(drawn((30, 7), (0.5, 1.0))), {"iteration": 10.0}, 100.0)
    assert answer.counts_from == "experiment"
    assert answer.counts == {"iteration": 7}
    assert answer.plans[1].optimal_count is None
    assert answer.purchase is None
    assert all(row.count and row.time_s is None for row in answer.table)
    assert codes(answer) == ["cost-unknown"]
    assert "--cost execution=TIME" in answer.cautions[0].message


def test_a_level_that_was_not_repeated_adds_its_cost_to_the_one_above():
    values = drawn((20, 1, 5), (0.5, 0.0, 1.0))
    answer = dimensioning(components(values), {"build": 30.0, "execution": 10.0, "iteration": 1.0})
    plain = dimensioning(components(values[:, 0]), {"execution": 40.0, "iteration": 1.0})
    assert answer.top_level == "build"
    assert answer.plans[1].optimal_count == 1
    assert answer.plans[2].optimal_count == plain.plans[1].optimal_count
    assert [row.time_s for row in answer.table] == [row.time_s for row in plain.table]
    assert "one-repetition" in codes(answer)


def test_one_unit_on_top_leaves_an_answer_about_that_unit():
    values = drawn((1, 20, 5), (0.0, 1.0, 1.0))
    answer = dimensioning(components(values), {"execution": 10.0, "iteration": 1.0})
    assert answer.top_level == "execution"
    assert answer.plans[0].optimal_count is None
    assert answer.table
    assert codes(answer) == ["one-repetition"]


def test_one_value_gives_no_table():
    answer = dimensioning(components([[3.0]]), {"execution": 1.0, "iteration": 1.0}, 10.0)
    assert (answer.table, answer.purchase, answer.top_level) == ((), None, None)
    assert codes(answer) == ["one-repetition", "one-repetition"]


def test_values_alike_need_no_more_than_the_fewest():
    answer = dimensioning(components(np.full((10, 7), 0.1)), {"execution": 1.0, "iteration": 1.0})
    assert [row.count for row in answer.table] == [5] * 5
    assert answer.plans[1].optimal_count == 1
    assert codes(answer) == ["constant"]


@pytest.mark.parametrize("mean", [0.0, -3.0])
def test_a_mean_that_is_not_positive_gives_no_relative_half_widths(mean):
    values = drawn((10, 5), (1.0, 1.0))
    found = components(values - values.mean() + mean)
    answer = dimensioning(found, {"execution": 1.0, "iteration": 1.0})
    assert answer.table == ()
    assert codes(answer) == ["mean-not-positive"]
    assert all(level.variation is None for level in found.levels)


def test_a_top_level_that_does_not_vary_stays_with_the_most_that_the_data_allow():
    seeds = (drawn((20, 4), (0.0, 1.0), seed) for seed in range(50))
    found = next(c for c in map(components, seeds) if c.levels[0].variance.estimate < 0)
    top, iteration = found.levels
    answer = dimensioning(found, {"execution": 4.0, "iteration": 1.0})
    assert "no-top-variation" in codes(answer)
    assert answer.top_level == "execution"
    wanted = sqrt(4 * iteration.variance.estimate / top.normal_high)
    assert answer.plans[1].exact_count == pytest.approx(wanted)
    assert top.normal_high < top.variance.high


def test_a_top_level_that_cannot_vary_leaves_the_counts_of_the_experiment():
    pattern = np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]] * 10)
    found = components(pattern + 0.01 * drawn((20, 4), (1.0, 0.0)))
    assert found.levels[0].variance.high == 0
    answer = dimensioning(found, {"execution": 4.0, "iteration": 1.0})
    assert "no-top-variation" in codes(answer)
    assert answer.plans[1].optimal_count == 4


@pytest.mark.parametrize("situation", SITUATIONS[:4], ids=lambda situation: situation.name)
def test_real_experiments_at_the_chosen_counts_are_as_predicted(situation):
    outcome = simulate(situation, 150)
    assert np.mean(outcome.realised) == pytest.approx(1.0, abs=0.1)
    assert np.mean(outcome.mean_held) > 0.88
    assert np.mean(outcome.ratio_held) > 0.88
    truth, found = np.array(situation.variances), np.array(outcome.variances)
    assert (abs(found.mean(axis=0) - truth) < 4 * found.std(axis=0) / sqrt(len(found))).all()


@pytest.mark.parametrize("situation", SITUATIONS[:3], ids=lambda situation: situation.name)
def test_the_optimum_takes_less_time_than_the_usual_designs(situation):
    _, only_top, equal = savings(situation)
    assert min(only_top, equal) >= 1


def test_few_repetitions_on_top_are_warned_of():
    assert "few-top-units" in codes(dimensioning(components(drawn((9, 5), (1.0, 1.0))), {}))
    assert "few-top-units" not in codes(dimensioning(components(drawn((10, 5), (1.0, 1.0))), {}))
