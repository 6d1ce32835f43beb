"""What running fewer benchmarks saves, as the benchmark of commits counts it."""

import numpy as np
import pytest

from benchmarks.commit_pairs.savings import savings, spent
from tests.unit.predict.commits.pairs import pair_table, simulated


def test_a_change_is_seen_at_the_next_run_of_its_benchmark_or_never():
    table = pair_table([[1, 1]] * 6, [1, 0, 0, 1, 0, 1])
    ones = np.ones(6)
    assert spent(table, ones, np.ones(6, bool)).regret == 0
    found = spent(table, ones, np.array([0, 0, 1, 1, 0, 0], bool))
    assert found.cost == pytest.approx(2 / 6)
    # Two revisions late, at once, and not before the end.
    assert (found.regret, found.at_once) == (pytest.approx(1), pytest.approx(1 / 3))


def test_each_benchmark_is_seen_by_its_own_runs():
    table = pair_table(
        [[1, 1]] * 4, [1, 0, 0, 0], benchmarks=("a", "b", "a", "b"), order=[0, 0, 1, 1]
    )
    assert spent(table, np.ones(4), np.array([0, 1, 0, 0], bool)).regret == 2
    assert spent(table, np.ones(4), np.array([0, 1, 1, 0], bool)).regret == 1


def test_a_predictor_that_knows_costs_less_than_strategies_that_do_not():
    table, _ = simulated(400, seed=3)
    found = savings(table, np.ones(400))
    assert found.predicted.cost < min(found.every_nth, found.at_random)
