"""Odd tables are named."""

import numpy as np

from steelyard.predict.platforms.rows import Row, make_table
from steelyard.predict.platforms.table_oddities import check_table
from tests.unit.predict.platforms.made_tables import low_rank_costs, table_of


def codes(table):
    return [caution.code for caution in check_table(table)]


def test_nothing_is_said_of_a_sound_table():
    assert codes(table_of(low_rank_costs(12, 15))) == []


def test_a_duplicated_benchmark_is_named_also_with_another_unit():
    costs = low_rank_costs(10, 8)
    costs[:, 5] = costs[:, 2] + 3
    found = check_table(table_of(costs))
    assert [c.code for c in found] == ["duplicate-benchmark"]
    assert "b2 and b5" in found[0].message


def test_a_corrupted_cell_is_named_with_its_host_and_benchmark():
    costs = low_rank_costs(12, 15)
    costs[3, 4] += np.log(9)
    found = check_table(table_of(costs))
    assert [c.code for c in found] == ["odd-cell"]
    assert "b4 on host3" in found[0].message


def test_milliseconds_among_seconds_are_named():
    costs = low_rank_costs(12, 15)
    costs[3, 4] += np.log(1000)
    found = check_table(table_of(costs))
    assert [c.code for c in found] == ["mixed-units"]
    assert "b4 on host3" in found[0].message


def test_a_benchmark_in_milliseconds_on_half_of_the_hosts_is_named():
    costs = low_rank_costs(12, 15)
    costs[:4, 4] += np.log(1000)
    assert codes(table_of(costs)).count("mixed-units") == 4


def test_a_constant_benchmark_is_named_and_takes_no_part():
    costs = low_rank_costs(10, 8)
    costs[:, 3] = 2.0
    assert codes(table_of(costs)) == ["constant-benchmark"]


def test_replicates_of_different_units_are_named():
    rows = [
        Row(h, b, 1.0 + r * 0.01 + k, "", True)
        for k, h in enumerate("abc")
        for b in "xy"
        for r in range(3)
    ]
    rows[0] = Row("a", "x", 1000.0, "", True)
    assert "replicates-differ" in codes(make_table("f", rows))
