"""Algorithm 1 of the thesis."""

import numpy as np
import pytest

from steelyard.core.errors import AnalysisError
from steelyard.predict.commits.thresholds import choose_thresholds, false_positives
from tests.unit.predict.commits.pairs import pair_table


def printed_algorithm(table, first_price):
    """Algorithm 1 as printed, its search from a first price; None: it does not end."""
    hits = table.values[table.hits].tolist()
    neutral = table.values[table.neutral].tolist()
    best = []
    for hit in hits:
        price, indicator = min(
            (sum(row[s] >= hit[s] for row in neutral), s) for s in range(len(hit))
        )
        best.append((price, indicator, hit[indicator]))
    left, found = set(range(len(hits))), {}
    while left:
        highest, target = first_price, None
        for h in sorted(left):
            if best[h][0] > highest:
                highest, target = best[h][0], best[h]
        if target is None:
            return None
        _, indicator, threshold = target
        name = table.indicators[indicator]
        found[name] = min(threshold, found.get(name, np.inf))
        left -= {h for h in left if hits[h][indicator] >= threshold}
    return found


def random_table(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 12, (60, 4)).astype(float)
    changed = rng.random(60) < 0.2
    changed[:2] = [True, False]
    return pair_table(values, changed, indicators=("a", "b", "c", "d"))


@pytest.mark.parametrize("seed", range(20))
def test_thresholds_are_those_of_the_printed_algorithm_whose_search_starts_below_0(seed):
    table = random_table(seed)
    assert dict(choose_thresholds(table).by_indicator) == printed_algorithm(table, -1)


@pytest.mark.parametrize("seed", range(20))
def test_every_learnt_change_is_covered(seed):
    table = random_table(seed)
    run = choose_thresholds(table).run(table.values, table.indicators)
    assert run[table.hits].all()


def test_a_change_that_costs_no_false_positive_is_covered_where_the_printed_loop_never_ends():
    table = pair_table([[90, 0], [10, 0], [0, 5]], [1, 0, 0])
    assert printed_algorithm(table, 0) is None
    assert dict(choose_thresholds(table).by_indicator) == {"rank": 90.0}


def test_indicators_divide_the_changes_among_themselves():
    table = pair_table([[90, 0], [1, 9], [50, 1], [2, 2]], [1, 1, 0, 0])
    found = choose_thresholds(table)
    assert dict(found.by_indicator) == {"rank": 90.0, "new": 9.0}
    assert not found.run(table.values, table.indicators)[table.neutral].any()


def test_without_any_change_in_what_is_learnt_it_refuses_instead_of_always_saying_no():
    table = pair_table([[90, 0], [10, 0]], [0, 0])
    with pytest.raises(AnalysisError, match="always say no"):
        choose_thresholds(table)


def test_a_price_is_the_number_of_neutral_rows_that_reach_the_threshold():
    neutral = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0]])
    prices = false_positives(np.array([[2.0, 7.0], [9.0, 0.0]]), neutral)
    np.testing.assert_array_equal(prices, [[2, 1], [0, 2]])


def test_an_unknown_indicator_neither_covers_nor_fires():
    table = pair_table([[np.nan, 4], [np.nan, 1], [np.nan, np.nan]], [1, 0, 1])
    found = choose_thresholds(table)
    assert dict(found.by_indicator) == {"new": 4.0}
    assert found.uncovered == 1
    assert not found.run(np.array([[np.nan, 3.0]]), table.indicators)[0]
