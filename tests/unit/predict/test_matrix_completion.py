"""Missing cells of a table of known rank."""

import numpy as np

from steelyard.predict.matrix_completion import complete_table
from tests.unit.predict.platforms.made_tables import low_rank_costs


def test_missing_cells_of_a_low_rank_table_are_found():
    truth = low_rank_costs(30, 25, rank=2, noise=0.001)
    seen = truth.copy()
    hidden = np.random.default_rng(4).random(truth.shape) < 0.2
    seen[hidden] = np.nan
    found = complete_table(seen).values
    np.testing.assert_array_equal(found[~hidden], truth[~hidden])
    assert np.median(np.abs(found - truth)[hidden]) < 0.05


def test_a_host_without_any_value_gets_what_benchmarks_usually_cost():
    truth = low_rank_costs(6, 5)
    truth[2] = np.nan
    assert np.isfinite(complete_table(truth).values).all()


def test_a_whole_table_is_left_as_it_is():
    truth = low_rank_costs(5, 4)
    np.testing.assert_array_equal(complete_table(truth).values, truth)
