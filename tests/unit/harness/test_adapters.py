"""What single adapters make of units, names and marks; what all of them keep is in contracts."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest

from steelyard.core.errors import DataError
from steelyard.harness.adapter import Series, Source, read_series
from steelyard.harness.adapters import ADAPTERS


def read(adapter: str, text: str, pattern: str | None = None) -> tuple[Series, ...]:
    return read_series(ADAPTERS.get(adapter), Source(text, "out/file", pattern), ADAPTERS)


def jmh(mode: str, unit: str, **metric: Any) -> str:
    primary = {"scoreUnit": unit, "rawData": [[2.0, 4.0]], **metric}
    return json.dumps([{"benchmark": "b", "mode": mode, "primaryMetric": primary}])


def google(**row: Any) -> str:
    one = {"name": "b", "run_type": "iteration", "real_time": 2.0, "time_unit": "us", **row}
    return json.dumps({"context": {"num_cpus": 1}, "benchmarks": [one]})


@pytest.mark.parametrize(
    ("mode", "unit", "metric", "ours", "values"),
    [
        ("avgt", "ns/op", "iteration_time", "s", (2e-9, 4e-9)),
        ("ss", "ms/op", "iteration_time", "s", (2e-3, 4e-3)),
        ("thrpt", "ops/s", "throughput", "op/s", (2.0, 4.0)),
        ("thrpt", "ops/ms", "throughput", "op/s", (2e3, 4e3)),
    ],
)
def test_jmhs_units_become_seconds_and_operations_a_second(
    mode: str, unit: str, metric: str, ours: str, values: tuple[float, ...]
) -> None:
    (series,) = read("jmh", jmh(mode, unit))
    assert (series.metric, series.unit) == (metric, ours)
    assert series.values == pytest.approx(values)


def test_a_sample_of_jmh_counts_as_often_as_it_was_seen() -> None:
    histogram = [[[[10.0, 3], [30.0, 1]]]]
    (series,) = read("jmh", jmh("sample", "us/op", rawDataHistogram=histogram))
    assert series.values == pytest.approx((15e-6,))


@pytest.mark.parametrize("histogram", [[[[]]], [[[[1.0]]]], [[[[1.0, 0.5]]]], [[[[1.0, 0]]]]])
def test_a_wrong_histogram_of_jmh_is_named(histogram: Any) -> None:
    with pytest.raises(DataError, match=r"rawDataHistogram\[0\]\[0\]"):
        read("jmh", jmh("sample", "us/op", rawDataHistogram=histogram))


def test_what_profilers_of_jmh_tell_in_words_is_passed_over() -> None:
    stack = {"score": "NaN", "scoreUnit": "---", "rawData": [["NaN", "NaN"]]}
    result = json.loads(jmh("avgt", "us/op", rawData=[[1.0, 2.0]]))
    result[0]["secondaryMetrics"] = {"stack": stack}
    (series,) = read("jmh", json.dumps(result))
    assert series.metric == "iteration_time"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jmh", '[{"benchmark": "b", "mode": "avgt", "primaryMetric": '
                '{"scoreUnit": "ns/op", "rawData": [[5, -5]]}}]'),
        ("renaissance", "benchmark,duration_ns\nals,-5\n"),
    ],
)  # fmt: skip
def test_a_negative_time_is_refused_whichever_harness_it_is_of(name: str, text: str) -> None:
    with pytest.raises(DataError, match="iteration_time must be 0 or above, as a time, not -5e-09"):
        read(name, text)


def test_google_benchmarks_time_unit_is_taken_into_account() -> None:
    (series,) = read("google-benchmark", google())
    assert series.values == pytest.approx((2e-6,))


def test_google_benchmarks_rates_are_better_when_higher() -> None:
    series = read("google-benchmark", google(items_per_second=5.0, depth=3.0))
    assert [(item.metric, item.direction) for item in series[1:]] == [
        ("items_per_second", "higher"),
        ("depth", "lower"),
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_counter_of_google_benchmark_that_is_no_number_leaves_the_times_usable(
    value: float,
) -> None:
    time, ratio = read("google-benchmark", google(ratio=value))
    assert (time.values, time.fault) == (pytest.approx((2e-6,)), None)
    assert ratio.values == ()
    assert ratio.fault is not None
    assert ratio.fault.startswith("out/file: benchmarks[0].ratio must be a finite number, not ")


def test_a_time_of_google_benchmark_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match=r"benchmarks\[0\].real_time must be a finite number"):
        read("google-benchmark", google(real_time=math.nan))


def test_aggregates_alone_are_refused_with_the_option_that_made_them() -> None:
    with pytest.raises(DataError, match="--benchmark_report_aggregates_only"):
        read("google-benchmark", google(run_type="aggregate"))


def test_two_runs_of_dacapo_in_one_text_are_two_executions() -> None:
    run = (
        "===== DaCapo 9.12 fop completed warmup 1 in 5 msec =====\n"
        "===== DaCapo 9.12 fop PASSED in 4 msec =====\n"
    )
    series = read("dacapo", run + "noise\n" + run)
    assert [(item.execution, item.warmup_count, item.values) for item in series] == [
        (0, 1, (0.005, 0.004)),
        (1, 1, (0.005, 0.004)),
    ]


def test_dacapo_without_its_last_iteration_has_failed() -> None:
    (series,) = read("dacapo", "===== DaCapo 9.12 fop completed warmup 1 in 5 msec =====\n")
    assert series.error is not None
    assert "cut off" in series.error


def test_the_counters_of_renaissances_plug_ins_are_metrics() -> None:
    table = "benchmark,JIT_TIME,duration_ns,vm_start_unix_ms\nals,7,2000000000,1\n"
    counter, time = read("renaissance", table)
    assert (counter.metric, counter.values, time.values) == ("JIT_TIME", (7.0,), (2.0,))


@pytest.mark.parametrize("cells", ["7,NA", "NA,7"])
def test_a_counter_that_some_repetitions_of_renaissance_lack_leaves_their_times(cells: str) -> None:
    first, second = cells.split(",")
    table = f"benchmark,GC,duration_ns\nals,{first},2000000000\nals,{second},3000000000\n"
    (time,) = read("renaissance", table)
    assert (time.metric, time.values) == ("iteration_time", (2.0, 3.0))


def test_criterions_older_columns_are_nanoseconds() -> None:
    table = "group,function,value,sample_time_nanos,iteration_count\nf,g,,3000,3\n"
    (series,) = read("criterion", table)
    assert (series.benchmark, series.values) == ("f/g", pytest.approx((1e-6,)))


@pytest.mark.parametrize("count", ["0", "-1", "nan", "x"])
def test_a_count_of_criterion_that_is_no_count_is_named(count: str) -> None:
    table = f"group,function,value,sample_time_nanos,iteration_count\nf,g,,3000,{count}\n"
    with pytest.raises(DataError, match="line 2, column 'iteration_count'"):
        read("criterion", table)


def test_a_line_whose_warm_up_comes_late_is_named() -> None:
    with pytest.raises(DataError, match="line 2: warmup must be false after"):
        read("json-lines", '{"value": 1}\n{"value": 2, "warmup": true}\n')


def test_lines_of_one_metric_in_two_units_are_refused() -> None:
    with pytest.raises(DataError, match="line 2: unit must be s as in the lines before"):
        read("json-lines", '{"value": 1}\n{"value": 2, "unit": "bytes"}\n')


def test_the_groups_of_an_expression_say_unit_benchmark_and_warm_up() -> None:
    text = "a warm 9us\na 4ms\nb 5us\n"
    pattern = r"^(?P<benchmark>\w) (?P<warmup>warm )?(?P<value>\d+)(?P<unit>[um]s)$"
    first, second = read("regex", text, pattern)
    assert (first.benchmark, first.warmup_count) == ("a", 1)
    assert first.values == pytest.approx((9e-6, 4e-3))
    assert (second.benchmark, second.values) == ("b", pytest.approx((5e-6,)))


def test_a_match_that_is_no_number_is_named() -> None:
    with pytest.raises(DataError, match='match 1: value must be a number, not "x"'):
        read("regex", "took x", "took (.+)")


def test_json_is_found_behind_other_lines() -> None:
    text = "[info] starting\n{not json\n" + google() + "\nbye\n"
    assert read("google-benchmark", text)[0].values == pytest.approx((2e-6,))


def test_a_number_of_too_many_digits_is_one_clear_error() -> None:
    text = google().replace("2.0", "2" * 5000)
    with pytest.raises(DataError, match="out/file is not whole JSON: a number has too many digits"):
        read("google-benchmark", text)


@pytest.mark.parametrize("value", ["1e151", "-2e200", "1" + "0" * 400])
def test_a_value_whose_square_is_beyond_floats_is_named(value: str) -> None:
    line = f'{{"value": {value}, "metric": "x", "unit": "x"}}\n'
    with pytest.raises(DataError, match="line 1: value must be at most 1e\\+150 to be plausible"):
        read("json-lines", line)


@pytest.mark.parametrize("line", ['{"value": 1e149, "unit": "day"}', '{"value": 1e300}'])
def test_a_value_that_is_too_large_in_our_unit_is_named(line: str) -> None:
    text = '{"value": 1.5, "unit": "day"}\n' if "day" in line else '{"value": 1.5}\n'
    with pytest.raises(DataError, match="out/file: a value of iteration_time must be at most"):
        read("json-lines", text + line)


def test_lines_that_differ_in_their_value_alone_are_read_as_others_are():
    lines = [
        '{"value": 0.5, "warmup": true, "unit": "ms"}',
        '{"unit": "ms", "value": 0.25, "warmup": true}',
        "noise",
        '{"value": 1, "unit": "ms"}',
        '{"value": 2.5, "unit": "ms"}',
        '{"value": 2.5, "unit": "us"}',
        '{"value": 7.0, "metric": "heap", "unit": "bytes"}',
        '{"value": 3.5, "unit": "ms"}',
    ]
    times, heap = read("json-lines", "\n".join(lines) + "\n")
    assert times.values == pytest.approx((0.5e-3, 0.25e-3, 1e-3, 2.5e-3, 2.5e-6, 3.5e-3))
    assert (times.warmup_count, heap.values) == (2, (7.0,))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_at_ends_of_lines_alone(end: str) -> None:
    text = end.join(['{"value": 1.5, "note": "a\u2028b"}', "x\u2028{", '{"value": 2.5}', ""])
    assert read("json-lines", text)[0].values == (1.5, 2.5)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"value": 1.5}\n{"value": 2.5\n{"value": 3.5}\n', "line 2 is not whole JSON"),
        ('{"value": 1.5}\n{"value": 2.5}, {"value": 3.5}\n', "line 2 is not whole JSON"),
        ('{"value": 1.5}\n{"value": -2.5}\n', "line 2: value must be 0 or above"),
        ('{"value": 1.5}\n{"value": 1.5}\n{"value": NaN}\n', "line 3: value must be a finite"),
        (
            '{"value": 1.5}\n{"value": ' + "1" * 5000 + "}\n",
            "line 2 .* a number has too many digits",
        ),
        ('{"value": 1.5}\n{"other": 1.5}\n', "line 2 lacks the field"),
        ('{"value": 1.5}\n{"value": 1.5, "warmup": true}\n', "line 2: warmup must be false"),
    ],
)
def test_a_wrong_line_after_right_ones_is_named(text, where):
    with pytest.raises(DataError, match=where):
        read("json-lines", text)


GO = "goos: linux\npkg: example.org/a\n"


def test_each_header_of_gos_text_begins_an_execution() -> None:
    text = f"{GO}BenchmarkX-8 10 12.5 ns/op\nBenchmarkX-8 10 13 ns/op\nPASS\n" * 2
    assert [(s.benchmark, s.execution, s.values) for s in read("benchfmt", text)] == [
        ("X-8", 0, (12.5e-9, 13e-9)),
        ("X-8", 1, (12.5e-9, 13e-9)),
    ]


def test_values_of_gos_text_lose_no_digit() -> None:
    (series,) = read("benchfmt", f"{GO}BenchmarkX 1 3179491099.9e-1 ns/op\n")
    assert series.values == (0.31794910999,)


def test_gos_units_are_metrics_with_their_direction() -> None:
    text = (
        "Unit widgets/s better=higher\nBenchmarkX 1 2 ns/op 1.5 MB/s 3 B/op 4 widgets/s 5 p9-ns\n"
    )
    assert {(s.metric, s.unit, s.direction, s.values) for s in read("benchfmt", text)} == {
        ("iteration_time", "s", "lower", (2e-9,)),
        ("bytes_per_second", "bytes/s", "higher", (1.5e6,)),
        ("bytes_per_op", "bytes", "lower", (3.0,)),
        ("widgets/s", "count", "higher", (4.0,)),
        ("p9", "s", "lower", (5e-9,)),
    }


def test_benchmarks_of_several_go_packages_are_told_apart() -> None:
    text = "pkg: a\nBenchmarkX 1 2 ns/op\npkg: b\nBenchmarkX 1 3 ns/op\n"
    assert [s.benchmark for s in read("benchfmt", text)] == ["a.X", "b.X"]


def test_a_benchmark_that_failed_in_go_is_an_error_of_its_own() -> None:
    series = read("benchfmt", f"{GO}--- FAIL: BenchmarkBad\nBenchmarkX 1 2 ns/op\n")
    assert [(s.benchmark, s.error) for s in series] == [("X", None), ("Bad", "it failed")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("BenchmarkX 1 NaN ns/op\n", "line 1: ns/op must be a finite number"),
        ("BenchmarkX 1 1_0 ns/op\n", "must be a finite number"),
        ("BenchmarkX 1 1e999 ns/op\n", "must be a finite number"),
        ("BenchmarkX 1 2 ns/op 3\n", "values that each have a unit"),
        ("BenchmarkX 1 -2 ns/op\n", "must be 0 or above"),
        ("BenchmarkX 1 2 ns/op", "it is cut off"),
    ],
)
def test_a_wrong_line_of_gos_text_is_named(line: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        read("benchfmt", line)
    assert said in caught.value.message


def test_a_launch_of_benchmarkdotnet_is_an_execution_of_its_results_alone() -> None:
    rows = [
        ("Workload", "Actual", 1, 99),
        ("Workload", "Result", 1, 10),
        ("Workload", "Result", 2, 20),
    ]
    measurements = [
        {
            "IterationMode": m,
            "IterationStage": s,
            "LaunchIndex": i,
            "Operations": 2,
            "Nanoseconds": n,
        }
        for m, s, i, n in rows
    ]
    row = {"FullName": "A.B", "Statistics": {}, "Measurements": measurements}
    found = read("benchmarkdotnet", json.dumps({"Benchmarks": [row]}))
    assert [(s.execution, s.values) for s in found] == [
        (0, pytest.approx((5e-9,))),
        (1, pytest.approx((10e-9,))),
    ]


def test_names_of_catch2_have_the_path_to_the_benchmark() -> None:
    mean = '<mean value="2"/>'
    good = f'<BenchmarkResults name="b">{mean}</BenchmarkResults>'
    bad = '<BenchmarkResults name="c"><failed message="threw"/></BenchmarkResults>'
    case = f'<TestCase name="t"><Section name="s">{good}</Section>{bad}</TestCase>'
    text = f"<Catch2TestRun>{case}</Catch2TestRun>"
    assert [(s.benchmark, s.values, s.error) for s in read("catch2", text)] == [
        ("t/s/b", (2e-9,), None),
        ("t/c", (), "threw"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><Catch name="b"></Catch>', "has a document type"),
        ("<Catch>" + "<a>" * 500, "nests deeper"),
        (
            '<Catch><BenchmarkResults name="b"><mean value="1_0"/></BenchmarkResults></Catch>',
            "finite",
        ),
        (
            '<Catch><BenchmarkResults name="b"><mean value="-1"/></BenchmarkResults></Catch>',
            "0 or above",
        ),
    ],
)
def test_hostile_xml_is_one_clear_error(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read("catch2", text)


def test_divans_names_are_paths_in_its_tree() -> None:
    text = (
        "w          fastest       │ slowest       │ median        │ mean      │ samples │ iters\n"
        "├─ a                     │               │               │               │         │\n"
        "│  ╰─ 10   1 ns          │ 4 ns          │ 2 ns          │ 3.5 µs        │ 100     │ 100\n"
        "╰─ b c     1 ns          │ 4 ns          │ 2 ns          │ 1.25 s        │ 100     │ 100\n"
        "           max alloc:    │               │               │               │         │\n"
    )
    found = read("divan", text)
    assert [(s.benchmark, s.values) for s in found if s.metric == "iteration_time"] == [
        ("w/a/10", pytest.approx((3.5e-6,))),
        ("w/b c", (1.25,)),
    ]


def test_sorted_samples_get_an_order_that_says_nothing() -> None:
    samples = [float(i) for i in range(50)]
    text = json.dumps([{"name": "t", "result": {"latency": {"samples": samples, "mean": 1}}}])
    (series,) = read("tinybench", text)
    assert sorted(series.values) == pytest.approx([value / 1e3 for value in samples])
    rising = sum(a < b for a, b in itertools.pairwise(series.values))
    assert 15 < rising < 35
    assert read("tinybench", text) == (series,)


def test_a_task_of_tinybench_that_failed_is_an_error_of_its_own() -> None:
    text = json.dumps([{"name": "t", "result": {"state": "errored", "hz": 0, "error": "boom"}}])
    (series,) = read("tinybench", text)
    assert (series.values, series.error) == ((), "boom")


def test_trends_of_k6_are_metrics_in_our_units() -> None:
    def line(kind: str, metric: str, **data: object) -> str:
        return json.dumps({"type": kind, "metric": metric, "data": data}, separators=(",", ":"))

    tags = {"scenario": "s"}
    text = "\n".join(
        [
            line("Metric", "iteration_duration", type="trend", contains="time"),
            line("Point", "iteration_duration", value=20, tags=tags),
            line("Metric", "checks", type="rate", contains="default"),
            line("Point", "checks", value=1, tags=tags),
            line("Metric", "size", type="trend", contains="data"),
            line("Point", "size", value=7, tags=tags),
        ]
    )
    assert {(s.benchmark, s.metric, s.unit, s.values) for s in read("k6", text)} == {
        ("s", "iteration_time", "s", (0.02,)),
        ("s", "size", "bytes", (7.0,)),
    }


REBENCH = "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\texecutor\tsuite\n"


def test_rebench_names_what_tells_runs_of_a_benchmark_apart() -> None:
    rows = [
        "1\t1\t2\tms\ttotal\tSum\tA\tS",
        "2\t1\t3\tms\ttotal\tSum\tA\tS",
        "1\t1\t9\tB\theap\tSum\tB\tS",
    ]
    found = read("rebench", REBENCH + "\n".join([*rows, ""]))
    assert [(s.benchmark, s.metric, s.unit, s.execution, s.values) for s in found] == [
        ("Sum A", "iteration_time", "s", 0, (0.002,)),
        ("Sum A", "iteration_time", "s", 1, (0.003,)),
        ("Sum B", "heap", "bytes", 0, (9.0,)),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1\t1\t2\tms\ttotal\tSum\tA\tS", "cut off"),
        ("1\t1\t2\tms\ttotal\tSum\tA\n", "not as many cells"),
        ("1\t1\tnan\tms\ttotal\tSum\tA\tS\n", "must be a finite number"),
        ("x\t1\t2\tms\ttotal\tSum\tA\tS\n", "must be a whole number"),
    ],
)
def test_a_wrong_row_of_rebench_is_named(row: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read("rebench", REBENCH + row)


def test_nanobench_leaves_out_what_the_machine_does_not_count() -> None:
    epochs = [{"elapsed": 2.0, "cpucycles": 0, "pagefaults": 1}, {"elapsed": 3.0, "cpucycles": 0}]
    row = {"title": "t", "name": "b", "epochs": 2, "measurements": epochs}
    found = read("nanobench", json.dumps({"results": [row]}))
    assert [(s.metric, s.values) for s in found] == [
        ("iteration_time", (2.0, 3.0)),
        ("page_faults", (1.0, 0.0)),
    ]


def test_a_file_of_pytest_benchmark_without_rounds_gives_means() -> None:
    row = {"fullname": "a.py::b", "name": "b", "stats": {"mean": 2.5}}
    (series,) = read("pytest-benchmark", json.dumps({"machine_info": {}, "benchmarks": [row]}))
    assert (series.benchmark, series.values) == ("a.py::b", (2.5,))
