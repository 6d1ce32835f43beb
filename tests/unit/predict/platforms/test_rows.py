"""Tables from rows: bad ones are refused by one clear error."""

import numpy as np
import pytest

from steelyard.core.errors import AnalysisError
from steelyard.predict.platforms.rows import Row, make_table


def rows(*cells, replicate=False):
    return [Row(h, b, v, f"line {n}", replicate) for n, (h, b, v) in enumerate(cells, start=2)]


SQUARE = [("a", "x", 1.0), ("a", "y", 2.0), ("b", "x", 3.0), ("b", "y", 4.0)]


def test_costs_are_logarithms_and_those_of_throughputs_are_negative():
    table = make_table("f", rows(*SQUARE), frozenset({"y"}))
    np.testing.assert_allclose(table.costs, [[0, -np.log(2)], [np.log(3), -np.log(4)]])
    assert table.natural(1, table.costs[1, 1]) == pytest.approx(4)


@pytest.mark.parametrize("value", [-1.0, 0.0, float("inf")])
def test_a_value_that_is_no_time_is_refused_with_its_place(value):
    with pytest.raises(AnalysisError, match=r"f, line 3: y on a is .*, not above 0"):
        make_table("f", rows(SQUARE[0], ("a", "y", value), *SQUARE[2:]))


def test_a_host_given_twice_is_refused_with_both_lines():
    with pytest.raises(AnalysisError, match=r"a has x twice \(line 2 and line 6\)"):
        make_table("f", rows(*SQUARE, ("a", "x", 5.0)))


def test_a_whole_table_pasted_twice_is_refused():
    with pytest.raises(AnalysisError, match="twice"):
        make_table("f", rows(*SQUARE, *SQUARE))


def test_replicates_are_averaged_with_their_variance():
    table = make_table("f", rows(*SQUARE, ("a", "x", 4.0), replicate=True))
    assert table.costs[0, 0] == pytest.approx(np.log(4) / 2)
    assert table.variances[0, 0] == pytest.approx(np.var([0, np.log(4)], ddof=1) / 2)
    assert np.isnan(table.variances[1, 1])


def test_replicates_without_a_number_are_taken_where_most_cells_have_them():
    again = [(h, b, v * 1.1) for h, b, v in SQUARE]
    assert np.isfinite(make_table("f", rows(*SQUARE, *again)).variances).all()


def test_one_host_is_no_table():
    with pytest.raises(AnalysisError, match="too few to learn"):
        make_table("f", rows(*SQUARE[:2]))


def test_a_value_whose_square_is_not_finite_is_refused_as_it_is_and_taken_by_its_logarithm():
    huge = [(host, benchmark, 1e200 * value) for host, benchmark, value in SQUARE]
    with pytest.raises(AnalysisError, match="x on a is 1e\\+200, which is too large"):
        make_table("f", rows(*huge), scale="linear")
    assert np.isfinite(make_table("f", rows(*huge)).costs).all()
