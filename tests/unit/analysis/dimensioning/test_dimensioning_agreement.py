from math import comb

import numpy as np
import pytest

from steelyard.analysis.dimensioning.dependent_iterations import (
    _hypergeometric_tail,
    dependence_cautions,
    dependent_executions,
)
from steelyard.analysis.dimensioning.dimensioning_agreement import (
    LEVEL,
    agreement,
    agreement_cautions,
    mean_squares,
)
from steelyard.analysis.variance.nested_values import nested_values
from steelyard.analysis.variance.variance_components import variance_components
from steelyard.core.repetition import DimensionedBy

LEVELS = ("build", "execution", "iteration")


def values(generator, counts, deviations):
    data = np.full(counts, 10.0)
    for depth, deviation in enumerate(deviations):
        shape = (*counts[: depth + 1], *[1] * (len(counts) - depth - 1))
        data = data + deviation * generator.standard_normal(shape)
    labels = [place.ravel().astype(np.int64) for place in np.indices(counts)]
    return nested_values(LEVELS[-len(counts) :], labels, data.ravel())


def squares(data):
    found = variance_components(data, 0.95)
    return mean_squares(found.levels, found.mean.estimate)


def test_alike_experiments_of_other_counts_rarely_disagree():
    generator = np.random.default_rng(1)
    told = 0
    for _ in range(400):
        initial = squares(values(generator, (20, 8, 8), (0.2, 0.3, 0.5)))
        later = values(generator, (10, 3, 2), (0.2, 0.3, 0.5))
        found = agreement(initial, later)
        assert [item.level for item in found] == list(LEVELS)
        told += any(item.p < LEVEL / len(found) for item in found)
    assert told <= 12  # 4 are expected; more than 12 has probability 2e-4


def test_what_is_expected_at_other_counts_is_unbiased():
    generator = np.random.default_rng(2)
    deviations = (0.2, 0.3, 0.5)
    later = values(generator, (10, 3, 2), deviations)
    found = [
        [item.expected_ratio for item in agreement(squares(data), later)]
        for data in (values(generator, (20, 8, 8), deviations) for _ in range(600))
    ]
    iteration = 0.25
    execution = 0.09 + iteration / 2
    build = 0.04 + execution / 3
    truth = np.array([build, execution, iteration]) / 100
    assert np.mean(found, axis=0) == pytest.approx(truth, rel=0.04)


@pytest.mark.parametrize(("deviations", "level"), [((0.9, 0.3, 0.5), "build"),
                                                   ((0.2, 0.3, 1.5), "iteration")])  # fmt: skip
def test_the_level_that_differs_is_named(deviations, level):
    generator = np.random.default_rng(3)
    initial = squares(values(generator, (20, 8, 8), (0.2, 0.3, 0.5)))
    found = agreement(initial, values(generator, (15, 4, 6), deviations))
    by = DimensionedBy("v", "01M", initial)
    told = " ".join(caution.message for caution in agreement_cautions(by, found, "time of v"))
    assert f"the means of {level} vary" in told


def test_a_dropped_level_is_left_out():
    generator = np.random.default_rng(4)
    initial = squares(values(generator, (20, 8), (0.3, 0.5)))
    later = values(generator, (20, 1), (0.3, 0.5))
    assert [item.level for item in agreement(initial, later)] == ["execution"]


def test_without_the_highest_level_nothing_is_said():
    generator = np.random.default_rng(5)
    initial = squares(values(generator, (20, 8, 8), (0.2, 0.3, 0.5)))
    assert agreement(initial, values(generator, (20, 8), (0.3, 0.5))) == ()


def test_independent_iterations_are_seldom_called_dependent():
    generator = np.random.default_rng(6)
    told = sum(
        bool(list(dependence_cautions(dependent_executions(generator.normal(size=(30, 30))), "x")))
        for _ in range(200)
    )
    assert told <= 8


def test_dependent_iterations_are_counted():
    generator = np.random.default_rng(7)
    series = np.cumsum(generator.normal(size=(30, 50)), axis=1)
    found = dependent_executions(series)
    assert (found.tested, found.p < 1e-6) == (30, True)
    assert found.dependent > 25


def test_thousands_of_dependent_executions_are_counted():
    generator = np.random.default_rng(8)
    found = dependent_executions(np.cumsum(generator.normal(size=(1500, 30)), axis=1))
    assert found.tested == 1500
    assert found.dependent > 1000
    assert found.p < 1e-6


def test_thousands_of_independent_executions_are_seldom_called_dependent():
    generator = np.random.default_rng(9)
    found = [
        dependent_executions(generator.normal(size=(10_000, count)), seed=count).p
        for count in (10, 20, 30, 60, 100)
    ]
    assert min(found) > 0.001  # with chi-squared's level, less than 1e-9 from 30 on


def test_executions_of_unlike_lengths_are_tested_each_by_its_own():
    generator = np.random.default_rng(10)
    walks = [np.cumsum(generator.normal(size=count)) for count in (20, 50, 20, 80, 30)]
    found = dependent_executions([*walks, [3.0] * 20, [1.0, 2.0]])
    assert (found.tested, found.dependent) == (5, 5)
    assert found.p < 1e-6


def test_the_chance_of_the_count_is_that_of_fishers_exact_test():
    expected = sum(comb(30, k) * comb(2010, 25 - k) for k in range(3, 26)) / comb(2040, 25)
    assert _hypergeometric_tail(3, 22, 30, 2010) == pytest.approx(expected, rel=1e-10)


def test_few_or_equal_iterations_are_not_tested():
    assert dependent_executions([[1.0] * 50, [1.0, 2.0]]).tested == 0
