"""What single readers of values along revisions find in the files of their tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.harness.adapter import Source
from steelyard.harness.track_reader import read_track_file
from steelyard.harness.track_readers import TRACK_READERS
from steelyard.harness.track_units import quantity_of, unix_time_of

DATA = Path(__file__).parent.parent.parent / "data" / "track_readers"


def _read(reader, text, name="out/file.csv"):
    return read_track_file(TRACK_READERS.get(reader), Source(text, name))


def _rows(reader, sample):
    return _read(reader, (DATA / sample).read_text("utf-8"), sample).rows


def test_asv_gives_a_value_for_each_combination_of_parameters_with_its_interval():
    found = _read("asv", (DATA / "asv.json").read_text("utf-8"))
    rows = {row.benchmark: row for row in found.rows}
    assert set(rows) == {
        *("bench.Sort.time_sort(100)", "bench.Sort.time_sort(1000)"),
        *("bench.peakmem_load", "bench.track_size", "bench.time_samples"),
    }
    sort = rows["bench.Sort.time_sort(1000)"]
    assert (sort.value, sort.low, sort.high, sort.confidence) == (0.012, 0.011, 0.013, 0.99)
    assert (sort.metric, sort.unit, sort.trial_count) == ("time", "s", 5)
    assert (sort.host, sort.committed_unix_s) == ("lab1, virtualenv-py3.11-numpy", 1.7e9)
    assert sort.revision == "7c1a4c9a3f1b2d4e5f60718293a4b5c6d7e8f901"
    memory = rows["bench.peakmem_load"]
    assert (memory.metric, memory.unit) == ("peak_memory", "bytes")
    samples = rows["bench.time_samples"]
    assert (samples.low, samples.observations) == (None, (0.4, 0.6))
    assert found.left_out == ("2 values left out: asv says that they failed.",)


def test_asv_version_1_is_read_too():
    rows = {row.benchmark: row.value for row in _rows("asv", "asv-1.json")}
    assert rows == {
        "bench.time_plain": 0.25,
        "bench.time_sizes(1)": 0.5,
        "bench.time_sizes(2)": 0.75,
    }


def test_asv_with_more_combinations_than_values_is_one_error_and_makes_none_of_them():
    document = {
        "commit_hash": "a",
        "env_name": "",
        "result_columns": ["result", "params"],
        "results": {"b": [[1.0], [list(range(10))] * 30]},
    }
    with pytest.raises(DataError, match=r"1 values for 10{30} combinations"):
        _read("asv", json.dumps(document))


def test_bencher_knows_the_units_of_its_own_measures():
    rows = {(row.benchmark, row.metric): row for row in _rows("bencher", "bencher.bmf.json")}
    latency = rows["sort", "latency"]
    assert latency.unit == "s"
    assert (latency.value, latency.low, latency.high) == pytest.approx(
        (88e-9, 87.42e-9, 88.88e-9), rel=1e-12
    )
    assert rows["sort", "throughput"].direction == "higher"
    assert rows["link", "file-size"].unit == "bytes"
    assert rows["link", "my-count"].value == -3


def test_github_action_benchmark_gives_all_runs_with_their_commits():
    rows = _rows("github-action-benchmark", "data.js")
    assert [(row.benchmark, row.revision) for row in rows] == [
        ("Rust Benchmark/bench_sort", "5a1b"),
        ("Rust Benchmark/bench_load", "5a1b"),
        ("Rust Benchmark/bench_sort", "6b2c"),
        ("Python/test_fib", "6b2c"),
    ]
    first = rows[0]
    assert (first.value, first.unit) == (pytest.approx(135e-9), "s")
    assert first.low is None
    assert (first.committed_unix_s, first.measured_unix_s) == (1704099600.0, 1704100000.0)
    assert (rows[3].direction, rows[3].unit) == ("higher", "iter/sec")


def test_github_action_benchmark_takes_intervals_of_what_steelyard_exported_alone():
    sort, load = _rows("github-action-benchmark", "custom.json")
    assert (sort.metric, sort.confidence) == ("wall_time", 0.95)
    assert (sort.low, sort.value, sort.high) == pytest.approx((1.4995e-3, 1.5e-3, 1.5005e-3))
    assert (load.unit, load.value, load.low) == ("bytes", 3 * 2**20, None)


def test_lines_of_go_under_one_commit_are_trials_of_one_value():
    rows = [row for row in _rows("benchfmt", "go.txt") if row.unit == "s"]
    assert [(row.revision, row.trial_count) for row in rows] == [("aaa0", 2), ("aaa1", 1)]
    assert rows[0].value == pytest.approx(1250e-9)
    assert rows[1].committed_unix_s == unix_time_of("2024-01-02T10:00:00Z")


def test_lnt_gives_each_metric_of_each_test_in_both_versions():
    new = {(row.benchmark, row.metric): row for row in _rows("lnt", "lnt-2.json")}
    assert set(new) == {
        *(("suite/sort", name) for name in ("execution_time", "compile_time", "code_size")),
        ("suite/load", "score"),
    }
    sort = new["suite/sort", "execution_time"]
    assert (sort.value, sort.observations) == (1.6, (1.5, 1.7))
    assert (sort.revision, sort.host) == ("abc123", "arm-bot")
    assert new["suite/load", "score"].direction == "higher"
    old = {(row.benchmark, row.metric): row for row in _rows("lnt", "lnt-1.json")}
    assert set(old) == {("nts.sort", "execution_time"), ("nts.sort", "compile_time")}
    assert old["nts.sort", "execution_time"].revision == "254000"


def test_otava_takes_columns_of_numbers_for_metrics():
    rows = _rows("otava-csv", "otava.csv")
    assert {row.metric for row in rows} == {"metric1", "metric2"}
    assert {row.benchmark for row in rows} == {"otava"}
    first = [row for row in rows if row.metric == "metric1"]
    assert [row.revision for row in first] == ["aaa0", "aaa1", "aaa2", "aaa3"]
    assert [row.measured_unix_s for row in first] == [
        *(1704074400.0, 1704160800.0, 1704247200.0, 1704333600.0)
    ]
    assert len([row for row in rows if row.metric == "metric2"]) == 3


def test_plain_csv_converts_units_and_leaves_empty_cells_out():
    found = _read("csv", (DATA / "plain.csv").read_text("utf-8"))
    sort = [row for row in found.rows if row.benchmark == "sort"]
    assert [(row.revision, row.position) for row in sort] == [("r0", 0), ("r1", 1), ("r1", 1)]
    assert (sort[0].value, sort[0].low, sort[0].unit) == (0.0125, 0.012, "s")
    assert [row.value for row in found.rows if row.benchmark == "load"] == [3 * 2**20]
    assert found.left_out == ("1 value left out: their cells are empty.",)


def test_a_revision_without_a_name_is_called_by_its_index():
    (first, second) = _read("csv", "index;mean\n7;1,5\n8;2\n".replace("1,5", "1.5")).rows
    assert (first.revision, first.position, first.benchmark) == ("7", 7, "file")
    assert second.revision == "8"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("series,value\na,1\nb\n", "line 3: 1 cells"),
        ("series,value,value\na,1,2\n", "column 'value' twice"),
        ("series,index,value\na,1.5,2\n", "line 2: index must be a whole number"),
        ("series,index,value\na,-1,2\n", "line 2: position|line 2: index"),
        ("series,value,time\na,1,soon\n", "line 2: time must be a date"),
        ("series,value,low,high\na,1,2,3\n", "must lie in its interval"),
        ("series,value,unit\na,-1,ms\n", "must be 0 or above"),
        ("series,value,direction\na,1,up\n", "direction must be lower or higher"),
        ("series,value\na,1_000\n", "must be a finite number"),
        ("series,value\n", "holds no value"),
    ],
)
def test_a_wrong_cell_of_plain_csv_is_named_with_its_line(text, told):
    with pytest.raises(DataError, match=told):
        _read("csv", text)


@pytest.mark.parametrize(
    ("unit", "told"),
    [
        ("ns/iter", (1e-9, "s", "lower")),
        ("ops/sec", (1.0, "ops/sec", "higher")),
        ("MB/s", (1.0, "MB/s", "higher")),
        ("KiB", (1024.0, "bytes", "lower")),
        ("", (1.0, "count", "lower")),
        ("furlongs", (1.0, "furlongs", "lower")),
    ],
)
def test_units_of_tools_become_ours_or_stay(unit, told):
    assert tuple(quantity_of(unit)) == told


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024.01.01 3:00:00 +0100", 1704074400.0),
        ("2024-01-01", 1704067200.0),
        ("2024-01-01T02:00:00.5Z", 1704074400.5),
        ("1704074400", 1704074400.0),
        ("1704074400000", 1704074400.0),
        ("yesterday", None),
        ("2024-13-01", None),
        ("nan", None),
        ("-5", None),
        ("2024-01-01 25:00", None),
        ("9" * 400, None),
    ],
)
def test_dates_of_tools_are_read_or_refused(text, seconds):
    assert unix_time_of(text) == seconds
