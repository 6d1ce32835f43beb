import numpy as np
import pytest

from steelyard.analysis.dimensioning.iteration_states import MOST_VALUES, state_cautions


def told(series, dropped_count=0):
    return {c.code: c.message for c in state_cautions(series, dropped_count, seed=1)}


def steady(generator, executions=10, iterations=60):
    return generator.normal(1.0, 0.01, (executions, iterations))


def test_nothing_is_said_of_steady_independent_iterations():
    generator = np.random.default_rng(1)
    assert sum(bool(told(steady(generator))) for _ in range(10)) <= 1


def test_iterations_before_the_steady_state_are_to_be_dropped():
    series = steady(np.random.default_rng(2), iterations=200)
    series[:, :20] *= 1.5
    found = told(series, dropped_count=3)
    assert list(found) == ["warm-up-kept"]
    assert "--warmup-iterations 23" in found["warm-up-kept"]


def remembering():
    walk = np.random.default_rng(3).normal(0, 0.01, (10, 300))
    for place in range(1, 300):
        walk[:, place] += 0.9 * walk[:, place - 1]
    return 1 + walk


def test_where_iterations_never_are_independent_one_of_each_is_proposed():
    found = told(remembering(), dropped_count=3)
    assert list(found) == ["no-independent-state"]
    assert "from number 3 on they are initialised. Take the same" in found["no-independent-state"]


def test_dependent_iterations_after_a_warm_up_are_to_be_looked_at_without_it_first():
    series = remembering()
    series[:, :20] *= 3
    message = told(series, dropped_count=3)["no-independent-state"]
    assert "Drop those before it (--warmup-iterations 23) and dimension again" in message


def test_iterations_that_walk_at_random_are_told_to_be_dependent_though_they_have_no_state():
    steps = np.random.default_rng(5).normal(0, 0.01, (4, 300))
    found = told(1 + steps.cumsum(axis=1))
    assert list(found) == ["no-independent-state"]
    assert "--repeat iteration=1" in found["no-independent-state"]


@pytest.mark.parametrize("shape", [(3, 20), (2, MOST_VALUES)])
def test_too_few_and_too_many_are_not_judged(shape):
    series = np.random.default_rng(4).normal(1.0, 0.01, shape)
    series[:, : shape[1] // 4] *= 2
    assert told(series) == {}


def test_values_that_have_no_state_are_not_judged():
    assert told(np.zeros((3, 50))) == {}
    assert told([]) == {}
