"""Metrics that programs print: how they are asked for and how they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import MetricSpec
from steelyard.measure.printed_metrics import parse_printed_metric, printed_values, values_in


def test_json_behind_a_byte_order_mark_is_json(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text('{"a": 1.5}', "utf-8-sig")
    metric = MetricSpec("a", "s", "lower", "json", "a")
    assert printed_values({"output": str(path)}, [metric]) == {"a": [1.5]}


@pytest.mark.parametrize("printed", ["1e308", "-1e151", "1" + "0" * 400])
def test_a_number_that_is_not_plausible_is_no_value(printed: str) -> None:
    assert values_in(f"x {printed}", MetricSpec("a", "s", "lower", "regex", "x (.+)")) == []
    assert values_in(f"[{printed}]", MetricSpec("a", "s", "lower", "json", "[0]")) == []


def test_an_expression_with_its_unit() -> None:
    assert parse_printed_metric(r"score=Score: ([0-9.]+):points") == MetricSpec(
        "score", "points", "lower", "regex", "Score: ([0-9.]+)"
    )


def test_a_prefix_and_a_direction() -> None:
    assert parse_printed_metric(r"speed=regex:(\d+) op:op/s:higher") == MetricSpec(
        "speed", "op/s", "higher", "regex", r"(\d+) op"
    )


def test_a_json_path() -> None:
    assert parse_printed_metric("mean=json:results[0].time:s:lower") == MetricSpec(
        "mean", "s", "lower", "json", "results[0].time"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("=x(.):s", "no name"),
        ("two words=(.):s", "no name"),
        ("score=(.*)", "lacks a unit"),
        ("score=(.*):", "lacks a unit"),
        ("score=json:s", "lacks a unit"),
        ("score=(.*):higher", "lacks a unit"),
        ("score=.*:s", r"no group \(\.\.\.\)"),
        ("score=(:s", "is wrong: missing \\)"),
        ("wall_time=(.*):s", "metric that Steelyard takes itself"),
        ("score=json:a[x]:s", "JSON path 'a.x.' is wrong"),
        ("score=json:a..b:s", "JSON path 'a..b' is wrong"),
    ],
)
def test_what_is_wrong_is_told(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        parse_printed_metric(text)
    assert raised.value.field == "metric"


def regex(pattern: str) -> MetricSpec:
    return MetricSpec("score", "s", source="regex", pattern=pattern)


def at(path: str) -> MetricSpec:
    return MetricSpec("score", "s", source="json", pattern=path)


def test_the_last_match_counts() -> None:
    assert values_in("t=1\nt=2.5e-3\n", regex("^t=(.*)$")) == [2.5e-3]


def test_each_group_of_it_that_took_part_is_one_iteration() -> None:
    assert values_in("1 2\n3 4\n", regex(r"(\d) (\d)( \d)?")) == [3.0, 4.0]


@pytest.mark.parametrize("text", ["", "t=", "t=fast", "t=nan", "t=inf"])
def test_no_match_and_no_finite_number_give_no_value(text: str) -> None:
    assert values_in(text, regex("t=(.*)")) == []


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("a.b", [2.0]),
        ("list", [1.0, 2.5]),
        ("list[-1]", [2.5]),
        ("rows[1].t", [4.0]),
        ("absent", []),
        ("list[7]", []),
        ("a.b.c", []),
        ("yes", []),
        ("null", []),
        ("text", [7.0]),
        ("a", []),
    ],
)
def test_a_json_path_leads_to_a_number_or_a_list_of_them(path: str, values: list[float]) -> None:
    text = (
        '{"a": {"b": 2}, "list": [1, 2.5], "rows": [{"t": 3}, {"t": 4}], "yes": true,'
        ' "null": null, "text": "7"}'
    )
    assert values_in(text, at(path)) == values


def test_a_path_may_begin_with_an_index() -> None:
    assert values_in("[[1, 2], [3, 4]]", at("[1][0]")) == [3.0]


def test_the_last_line_is_read_where_the_whole_is_no_json() -> None:
    assert values_in('warming up\n{"t": 1}\n{"t": 2}\n', at("t")) == [2.0]
    assert values_in("no json at all", at("t")) == []


def test_output_that_is_not_utf8_is_read_around(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.write_bytes(b"\xff\xfe score=3\n\xff")
    absent = MetricSpec("t", "s", source="json", pattern="t")
    assert printed_values({"output": str(output)}, [regex("score=(.)"), absent]) == {"score": [3.0]}


def test_output_that_is_gone_has_no_values(tmp_path: Path) -> None:
    assert printed_values({"output": str(tmp_path / "absent")}, [regex("(.)")]) == {}
    assert printed_values({"output": None}, [regex("(.)")]) == {}
