"""Files of harnesses as experiments, and experiments as files of other tools."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import MetricSpec
from steelyard.store.file_format import detect_format
from steelyard.store.formats import FORMATS
from tests.experiments import failed_trial, make_experiment, make_trial

DATA = Path(__file__).parents[2] / "data" / "adapters"
SAMPLES = {
    "google-benchmark.json": "google-benchmark",
    "jmh.json": "jmh",
    "pyperf.json": "pyperf",
    "dacapo.txt": "dacapo",
    "renaissance.json": "renaissance",
    "renaissance.csv": "renaissance",
    "criterion/Fibonacci/Recursive/5/new/raw.csv": "criterion",
    "criterion/Fibonacci/Recursive/5/new/sample.json": "criterion",
    "lines.jsonl": "json-lines",
    "benchfmt.txt": "benchfmt",
    "benchmarkdotnet.json": "benchmarkdotnet",
    "catch2.xml": "catch2",
    "divan.txt": "divan",
    "k6.jsonl": "k6",
    "nanobench.json": "nanobench",
    "pytest-benchmark.json": "pytest-benchmark",
    "rebench.txt": "rebench",
    "tinybench.json": "tinybench",
    "vitest.json": "vitest",
}


def imported(sample: str) -> Experiment:
    path = str(DATA / sample)
    chosen = detect_format(path, FORMATS)
    assert chosen.read is not None
    return chosen.read(path)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_byte_order_mark_changes_nothing(sample: str, tmp_path: Path) -> None:
    path = tmp_path / "criterion" / "file"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf" + (DATA / sample).read_bytes())
    chosen = detect_format(str(path), FORMATS)
    assert chosen.name == SAMPLES[sample]
    assert chosen.read is not None
    again = [trial.measurements for trial in chosen.read(str(path)).trials]
    assert again == [trial.measurements for trial in imported(sample).trials]


def test_a_counter_that_is_no_number_is_left_out_of_its_trial_with_the_reason(
    tmp_path: Path,
) -> None:
    path = tmp_path / "google.json"
    row = {"name": "b", "real_time": 2.0, "time_unit": "s", "steelyard_execution": 0}
    rows = [{**row, "ratio": 0.5, "hits": math.inf}, {**row, "ratio": math.nan, "hits": 1.0}]
    rows[1]["steelyard_execution"] = 1
    path.write_text(json.dumps({"context": {"num_cpus": 1}, "benchmarks": rows}))
    read = FORMATS.get("google-benchmark").read
    assert read is not None
    experiment = read(str(path))
    first, second = experiment.trials
    assert first.measurements == {"iteration_time": (2.0,), "ratio": (0.5,)}
    assert second.measurements == {"iteration_time": (2.0,), "hits": (1.0,)}
    assert "benchmarks[1].ratio must be a finite number" in second.details["unusable"]["ratio"]
    assert {trial.status for trial in experiment.trials} == {"ok"}


def exported(experiment: Experiment, name: str, directory: Path) -> tuple[str, list[str]]:
    chosen = FORMATS.get(name)
    assert chosen.write is not None
    cautions = chosen.write(experiment, str(directory / "file"))
    return (directory / "file").read_text("utf-8"), [caution.code for caution in cautions]


def with_iterations() -> Experiment:
    """Two variants whose trials have three iterations and a wall time each."""
    trials = tuple(
        make_trial(
            position,
            measurements={
                "iteration_time": tuple(0.001 * (position + 1 + i) for i in range(3)),
                "wall_time": (0.5,),
            },
        )
        for position in range(6)
    )
    spec = replace(
        make_experiment().spec,
        metrics=(
            MetricSpec("iteration_time", "s", source="iterations"),
            MetricSpec("wall_time", "s"),
        ),
    )
    return make_experiment(spec=spec, trials=(*trials, failed_trial(6)))


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_harnesss_file_is_found_by_its_content(sample: str) -> None:
    assert detect_format(str(DATA / sample), FORMATS).name == SAMPLES[sample]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_harnesss_file_is_an_experiment_that_can_be_answered(sample: str) -> None:
    experiment = imported(sample)
    assert experiment.spec.order == "sequential"
    assert experiment.provenance["imported"]["format"] == SAMPLES[sample]
    ok = [trial for trial in experiment.trials if trial.status == "ok"]
    assert ok
    assert all(trial.measurements for trial in ok)
    assert len(answer(experiment).variants) == len(experiment.spec.variants)


def test_runs_of_pyperf_are_trials_and_their_warm_ups_are_kept_aside() -> None:
    experiment = imported("pyperf.json")
    assert [variant.name for variant in experiment.spec.variants] == ["sort", "sum"]
    assert [(t.variant, t.block) for t in experiment.trials] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    first = experiment.trials[0]
    assert len(first.measurements["iteration_time"]) == 3
    assert len(first.details["warmup_iterations"]["iteration_time"]) == 1


def test_forks_of_jmh_are_trials_in_seconds_or_operations() -> None:
    experiment = imported("jmh.json")
    metrics = {metric.name: metric for metric in experiment.spec.metrics}
    assert experiment.spec.primary_metric.name == "iteration_time"
    assert (metrics["throughput"].unit, metrics["throughput"].direction) == ("op/s", "higher")
    document = json.loads((DATA / "jmh.json").read_text())
    names = [variant.name for variant in experiment.spec.variants]
    loop = names.index("demo.Sums.loop (size=10)")
    own = [t.measurements["iteration_time"] for t in experiment.trials if t.variant == loop]
    metric = next(r["primaryMetric"] for r in document if r["benchmark"].endswith("loop"))
    assert len(own) == 2
    mean = fmean(value for values in own for value in values)
    assert mean == pytest.approx(metric["score"] * 1e-9, rel=1e-9)


def test_a_benchmark_without_a_name_is_told_from_one_that_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"value": 1}\n{"value": 2, "benchmark": "benchmark"}\n')
    experiment = FORMATS.get("json-lines").read(str(path))
    assert [v.name for v in experiment.spec.variants] == ["benchmark", "benchmark [2]"]


def test_samples_of_jmh_are_reduced_to_the_mean_of_each_iteration() -> None:
    experiment = imported("jmh.json")
    names = [variant.name for variant in experiment.spec.variants]
    index = names.index("demo.Sums.sampled (size=10)")
    own = [t.measurements["iteration_time"] for t in experiment.trials if t.variant == index]
    assert [len(values) for values in own] == [4, 4]


def test_the_benchmarks_of_criterion_and_its_own_estimate_agree() -> None:
    for file in ("raw.csv", "sample.json"):
        experiment = imported(f"criterion/Fibonacci/Recursive/5/new/{file}")
        assert experiment.spec.variants[0].name == "Fibonacci/Recursive/5"
        assert len(experiment.trials[0].measurements["iteration_time"]) == 10


def test_a_benchmark_that_failed_in_its_harness_is_a_failed_trial() -> None:
    for sample, told in (
        ("google-benchmark.json", "no such input"),
        ("renaissance.json", "failed"),
    ):
        failed = [t for t in imported(sample).trials if t.status == "failed"]
        assert len(failed) == 1
        assert failed[0].reason == "metric"
        assert told in failed[0].details["error"]


def test_dacapos_last_iteration_is_the_measurement() -> None:
    trial = imported("dacapo.txt").trials[0]
    assert trial.measurements == {"iteration_time": (0.601,)}
    assert trial.details["warmup_iterations"] == {"iteration_time": [2.31, 0.842, 0.655]}


def test_google_benchmark_keeps_executions_and_iterations_apart(tmp_path: Path) -> None:
    experiment = with_iterations()
    text, cautions = exported(experiment, "google-benchmark", tmp_path)
    row = json.loads(text)["benchmarks"][1]
    assert (row["name"], row["time_unit"]) == ("old", "ns")
    assert row["real_time"] == pytest.approx(2e6)
    assert (row["repetitions"], row["repetition_index"]) == (9, 1)
    assert cautions == ["failed-left-out", "metrics-left-out"]
    again = FORMATS.get("google-benchmark").read(str(tmp_path / "file"))
    kept = [t.measurements["iteration_time"] for t in experiment.trials if t.status == "ok"]
    assert sorted(t.measurements["iteration_time"] for t in again.trials) == sorted(kept)


def test_bencher_gets_nanoseconds_with_the_interval(tmp_path: Path) -> None:
    experiment = make_experiment(blocks=3)
    document = json.loads(exported(experiment, "bencher", tmp_path)[0])
    mean = answer(experiment).variants[0].metrics["wall_time"].summary.mean
    assert document["old"]["latency"] == {
        "value": mean.estimate * 1e9,
        "lower_value": mean.low * 1e9,
        "upper_value": mean.high * 1e9,
    }
    assert set(document["new"]) == {"latency", "max-rss"}


def test_two_metrics_that_bencher_would_call_alike_are_both_written(tmp_path: Path) -> None:
    names = ("wall_time", "latency", "hot_path", "hot-path")
    spec = replace(make_experiment().spec, metrics=tuple(MetricSpec(n, "s") for n in names))
    trials = tuple(
        make_trial(position, measurements={name: (k + 1.0,) for k, name in enumerate(names)})
        for position in range(4)
    )
    experiment = make_experiment(spec=spec, trials=trials)
    written = json.loads(exported(experiment, "bencher", tmp_path)[0])["old"]
    found = {slug: measure["value"] for slug, measure in written.items()}
    assert found == {"latency": 1e9, "latency-2": 2.0, "hot-path": 3.0, "hot-path-2": 4.0}


@pytest.mark.parametrize(("confidence", "told"), [(0.95, "95%"), (0.999, "99.9%")])
def test_github_action_benchmark_is_told_the_confidence_that_was_asked_for(
    tmp_path: Path, confidence: float, told: str
) -> None:
    experiment = make_experiment(spec=replace(make_experiment().spec, confidence=confidence))
    entries = json.loads(exported(experiment, "github-action-benchmark", tmp_path)[0])
    assert entries[0]["extra"] == f"wall_time, {told} interval by student-blocks"


def test_github_action_benchmark_gets_a_list_of_means(tmp_path: Path) -> None:
    entries = json.loads(exported(with_iterations(), "github-action-benchmark", tmp_path)[0])
    assert [entry["name"] for entry in entries] == ["old", "new"]
    assert entries[0]["unit"] == "ms"
    assert entries[0]["value"] == pytest.approx(4.0)
    assert entries[0]["range"].startswith("± ")


def test_github_action_benchmark_refuses_a_metric_of_which_more_is_better(tmp_path: Path) -> None:
    spec = replace(make_experiment().spec, metrics=(MetricSpec("wall_time", "s", "higher"),))
    with pytest.raises(DataError, match="more is better"):
        exported(make_experiment(spec=spec), "github-action-benchmark", tmp_path)


def test_asv_gets_one_value_an_execution(tmp_path: Path) -> None:
    text, cautions = exported(with_iterations(), "asv", tmp_path)
    document = json.loads(text)
    row = dict(zip(document["result_columns"], document["results"]["steelyard.old"], strict=True))
    assert row["samples"] == [pytest.approx([0.002, 0.004, 0.006])]
    assert row["result"] == [median(row["samples"][0])]
    assert (row["stats_number"], row["stats_repeat"]) == ([1], [3])
    assert document["version"] == 2
    assert "no-commit" in cautions


def test_benchfmt_has_the_baseline_first_whichever_ran_first(tmp_path: Path) -> None:
    trials = (make_trial(0, variant=1, block=0), make_trial(1, variant=0, block=0))
    text, _ = exported(make_experiment(trials=trials), "benchfmt", tmp_path)
    lines = [line.split()[0] for line in text.splitlines() if line.startswith("Benchmark")]
    assert lines == ["BenchmarkSteelyard/variant=old-1", "BenchmarkSteelyard/variant=new-1"]


def test_benchfmt_has_a_line_an_execution_that_go_can_read(tmp_path: Path) -> None:
    text, _ = exported(with_iterations(), "benchfmt", tmp_path)
    lines = [line for line in text.splitlines() if line.startswith("Benchmark")]
    line_of = re.compile(r"Benchmark[A-Z]\S*-1 1( [-+.\deE]+ \S+)+")
    assert len(lines) == 6
    assert all(line_of.fullmatch(line) for line in lines)
    name, _count, value, unit, *rest = lines[0].split()
    assert (name, float(value), unit) == ("BenchmarkSteelyard/variant=old-1", 0.002, "sec/op")
    assert rest == ["0.5", "wall_time-sec/op"]


def test_names_with_spaces_and_slashes_stay_one_field_in_benchfmt(tmp_path: Path) -> None:
    experiment = make_experiment()
    named = [
        replace(variant, name=name)
        for variant, name in zip(experiment.spec.variants, ("./run -6", "._run_-6"), strict=True)
    ]
    spec = replace(experiment.spec, variants=tuple(named))
    text, _ = exported(replace(experiment, spec=spec), "benchfmt", tmp_path)
    names = {line.split()[0] for line in text.splitlines() if line.startswith("Benchmark")}
    assert names == {
        "BenchmarkSteelyard/variant=._run_-6-1",
        "BenchmarkSteelyard/variant=._run_-6_[2]-1",
    }


@pytest.mark.parametrize(
    "name", ["google-benchmark", "bencher", "github-action-benchmark", "asv", "benchfmt"]
)
def test_an_experiment_without_a_successful_trial_is_refused(name: str, tmp_path: Path) -> None:
    trials: Any = tuple(failed_trial(position) for position in range(4))
    with pytest.raises(DataError, match=r"successful trial|No trial"):
        exported(make_experiment(trials=trials), name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_google_benchmark_gets_no_cpu_time_that_nobody_measured(tmp_path: Path) -> None:
    text, _ = exported(with_iterations(), "google-benchmark", tmp_path)
    assert {row["cpu_time"] for row in json.loads(text)["benchmarks"]} == {0.0}
    again = FORMATS.get("google-benchmark").read(str(tmp_path / "file"))
    assert [metric.name for metric in again.spec.metrics] == ["iteration_time"]


def test_pyperf_gets_a_run_an_execution_and_gives_the_same_again(tmp_path: Path) -> None:
    experiment = with_iterations()
    _, cautions = exported(experiment, "pyperf", tmp_path)
    assert cautions == ["failed-left-out", "metrics-left-out"]
    again = FORMATS.get("pyperf").read(str(tmp_path / "file"))
    kept = [t.measurements["iteration_time"] for t in experiment.trials if t.status == "ok"]
    assert sorted(t.measurements["iteration_time"] for t in again.trials) == sorted(kept)


def test_pyperf_gets_no_run_with_a_time_of_0(tmp_path: Path) -> None:
    trials = tuple(
        make_trial(position, measurements={"wall_time": (0.0 if position == 0 else 0.1,)})
        for position in range(6)
    )
    text, cautions = exported(make_experiment(trials=trials), "pyperf", tmp_path)
    assert "zeros-left-out" in cautions
    assert [len(each["runs"]) for each in json.loads(text)["benchmarks"]] == [2, 3]
