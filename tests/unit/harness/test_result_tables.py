"""Tables of results: names, units, directions, and what is no table."""

from __future__ import annotations

import pytest

from steelyard.core.errors import DataError
from steelyard.harness.adapter import Source
from steelyard.harness.result_tables import read_results


def read(text: str, name: str = "results.csv"):
    return {item.metric: item for item in read_results(Source(text, name))}


def test_a_column_of_numbers_is_a_metric_with_the_unit_of_its_heading():
    found = read("sort_ms,rate (MB/s),size (KiB),input,count\n5,2,1,a,7\n6,4,1,b,8\n")
    assert {name: (item.unit, item.values) for name, item in found.items()} == {
        "sort_ms": ("s", (0.005, 0.006)),
        "rate": ("MB/s", (2.0, 4.0)),
        "size": ("bytes", (1024.0, 1024.0)),
        "count": ("count", (7.0, 8.0)),
    }


def test_more_of_a_rate_is_better_and_less_of_all_else():
    found = read("rate (MB/s),throughput,time_s,errors\n1,1,1,1\n")
    assert [item.direction for item in found.values()] == ["higher", "higher", "lower", "lower"]


def test_an_object_says_values_units_and_directions():
    text = (
        '{"a": 1, "b_ns": [1, 2], "c": {"value": 3, "unit": "ms", "direction": "higher"}, "d": "x"}'
    )
    found = read(text, "metrics.json")
    assert found["a"].values == (1.0,)
    assert found["b_ns"].values == (1e-9, 2e-9)
    assert (found["c"].unit, found["c"].values, found["c"].direction) == ("s", (0.003,), "higher")
    assert "d" not in found


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a,b\n",
            "a\nx\n",
            "a\n1",
            "a,b\n1\n",
            "a\nnan\n",
            "a\n1e200\n",
            "\x00",
            "{",
            "{}",
            '{"a": null}',
        ),
        *(
            '{"a": 1e999}',
            '{"a": {"value": 1, "direction": "up"}}',
            '{"a": {"value": 1, "unit": 3}}',
        ),
    ],
)
def test_what_is_no_table_is_one_error_that_names_the_file(text):
    with pytest.raises(DataError, match=r"results\.csv"):
        read(text)
