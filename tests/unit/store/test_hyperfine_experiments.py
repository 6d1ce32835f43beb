from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import MetricSpec
from steelyard.store.formats import FORMATS
from tests.experiments import failed_trial, make_experiment, make_trial

HYPERFINE, HYPERFINE_2 = FORMATS.get("hyperfine"), FORMATS.get("hyperfine-2")
FIXTURES = Path(__file__).parents[2] / "integration" / "data"


def result_1(**changes):
    known = {"command": "sleep 1", "mean": 1.5, "user": 0.25, "system": 0.125, "times": [1.0, 2.0]}
    return {**known, **changes}


def run_2(wall_s=1.0, **changes):
    quantity = {"value": wall_s, "unit": "second"}
    return {"time_wall_clock": quantity, "exit_code": 0, **changes}


def result_2(**changes):
    return {"command": "sleep 1", "measurements": [run_2(1.0), run_2(2.0)], **changes}


def read(tmp_path, document):
    path = tmp_path / "h.json"
    path.write_text(json.dumps(document))
    return HYPERFINE.read(str(path))


def read_1(tmp_path, *results):
    return read(tmp_path, {"results": list(results)})


def read_2(tmp_path, *results, **changes):
    return read(tmp_path, {"schema_version": 2, "results": list(results), **changes})


def written(chosen, experiment, tmp_path):
    cautions = chosen.write(experiment, str(tmp_path / "out.json"))
    return json.loads((tmp_path / "out.json").read_text()), [c.code for c in cautions]


def values(experiment, metric):
    return [trial.measurements[metric][0] for trial in experiment.trials]


def test_times_are_executions_one_command_after_the_other(tmp_path):
    experiment = read_1(tmp_path, result_1(), result_1(command="b", times=[3.0]))
    assert [(t.variant, t.block, t.position) for t in experiment.trials] == [
        (0, 0, 0),
        (0, 1, 1),
        (1, 0, 2),
    ]
    assert values(experiment, "wall_time") == [1.0, 2.0, 3.0]
    assert experiment.spec.order == "sequential"
    assert experiment.spec.kind == "comparison"
    assert experiment.spec.metrics == (MetricSpec("wall_time", "s"),)


def test_one_command_is_a_measurement(tmp_path):
    assert read_1(tmp_path, result_1()).spec.kind == "measurement"


def test_a_run_with_another_exit_code_is_a_failed_trial(tmp_path):
    trials = read_1(tmp_path, result_1(times=[1.0, 2.0, 3.0], exit_codes=[0, 7, None])).trials
    assert [(t.status, t.reason) for t in trials] == [
        ("ok", None),
        ("failed", "exit"),
        ("failed", "signal"),
    ]
    assert trials[1].details == {"exit_code": 7}


def test_memory_and_parameters_are_kept(tmp_path):
    result = result_1(memory_usage_byte=[1024, 2048], parameters={"size": "10"})
    experiment = read_1(tmp_path, result)
    assert values(experiment, "max_rss") == [1024.0, 2048.0]
    assert experiment.spec.variants[0].parameters == (("size", "10"),)


def test_commands_of_one_name_are_told_apart(tmp_path):
    experiment = read_1(tmp_path, result_1(), result_1())
    assert [variant.name for variant in experiment.spec.variants] == ["sleep 1", "sleep 1 [2]"]


def test_quantities_are_taken_in_their_units(tmp_path):
    run = run_2(
        time_user={"value": 250.0, "unit": "millisecond"},
        memory_peak_resident={"value": 3.0, "unit": "kibibyte"},
        cpu_cycles={"value": 1234},
    )
    experiment = read_2(tmp_path, result_2(measurements=[run]))
    assert dict(experiment.trials[0].measurements) == {
        "wall_time": (1.0,),
        "user_time": (0.25,),
        "max_rss": (3072.0,),
        "cycles": (1234.0,),
    }


def test_the_reference_is_the_baseline(tmp_path):
    results = [result_2(command="a"), result_2(command="b", is_reference=True)]
    experiment = read_2(tmp_path, *results)
    assert [variant.name for variant in experiment.spec.variants] == ["b", "a"]


def test_the_primary_metric_comes_first(tmp_path):
    run = run_2(memory_peak_resident={"value": 3.0, "unit": "byte"})
    experiment = read_2(
        tmp_path, result_2(measurements=[run]), primary_metric="memory_peak_resident"
    )
    assert [m.name for m in experiment.spec.metrics] == ["max_rss", "wall_time"]


def test_the_start_is_when_the_file_says(tmp_path):
    experiment = read_2(tmp_path, result_2(), metadata={"start_time": "2026-01-01T00:00:00Z"})
    assert experiment.created_unix_s == 1767225600.0


def test_a_name_stands_for_its_command(tmp_path):
    experiment = read_2(tmp_path, result_2(name="short"))
    assert experiment.spec.variants[0].name == "short"
    assert experiment.provenance["imported"]["results"] == [{"command": "sleep 1"}]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"results": []}, "file"),
        ({"results": {}}, "results"),
        ({"results": [3]}, "results[0]"),
        ({"results": [{"command": "a"}]}, "results[0].times"),
        ({"results": [{"times": [1.0]}]}, "results[0].command"),
        ({"results": [result_1(times=[])]}, "file"),
        ({"results": [result_1(times=[1.0, float("nan")])]}, "results[0].times[1]"),
        ({"results": [result_1(times=[1.0, -2.0])]}, "results[0].times[1]"),
        ({"results": [result_1(times=["1"])]}, "results[0].times[0]"),
        ({"results": [result_1(times=[True])]}, "results[0].times[0]"),
        ({"results": [result_1(exit_codes=[0])]}, "results[0].exit_codes"),
        ({"results": [result_1(exit_codes=[0, "1"])]}, "results[0].exit_codes[1]"),
        ({"results": [result_1(parameters={"a": 1})]}, "results[0].parameters.a"),
        ({"schema_version": 3, "results": []}, "schema_version"),
        ({"schema_version": 2, "results": [result_1()]}, "results[0].measurements"),
        (
            {"schema_version": 2, "primary_metric": ["a"], "results": [result_2()]},
            "primary_metric",
        ),
        (
            {"schema_version": 2, "results": [result_2(measurements=[{"exit_code": 0}])]},
            "results[0].measurements[0].time_wall_clock",
        ),
        (
            {
                "schema_version": 2,
                "results": [
                    result_2(measurements=[{"time_wall_clock": {"value": 1, "unit": "hour"}}])
                ],
            },
            "results[0].measurements[0].time_wall_clock.unit",
        ),
        (
            {
                "schema_version": 2,
                "results": [result_2(measurements=[{"time_wall_clock": {"value": 1, "unit": []}}])],
            },
            "results[0].measurements[0].time_wall_clock.unit",
        ),
    ],
)
def test_a_wrong_field_is_named_with_the_file(tmp_path, document, field):
    with pytest.raises(DataError, match=r"h\.json") as caught:
        read(tmp_path, document)
    assert caught.value.field == field


def test_what_schema_1_says_is_true_of_the_runs(tmp_path):
    experiment = make_experiment(blocks=4)
    document, codes = written(HYPERFINE, experiment, tmp_path)
    old = document["results"][0]
    times = [t.measurements["wall_time"][0] for t in experiment.trials if t.variant == 0]
    assert old["times"] == times
    assert old["mean"] == statistics.fmean(times)
    assert old["stddev"] == pytest.approx(statistics.stdev(times))
    assert old["median"] == statistics.median(times)
    assert (old["min"], old["max"]) == (min(times), max(times))
    assert old["exit_codes"] == [0] * 4
    assert old["memory_usage_byte"] == [2048, 6144, 10240, 14336]
    assert old["user"] is None  # Nobody measured it.
    assert document["results"][1]["parameters"] == {"size": "10"}
    assert codes == []


def test_the_fields_of_schema_1_are_those_that_hyperfine_writes(tmp_path):
    theirs = json.loads((FIXTURES / "hyperfine_1.json").read_text())["results"][0]
    metrics = [MetricSpec(name, "s") for name in ("wall_time", "user_time", "system_time")]
    trials = [
        make_trial(p, measurements={metric.name: (0.5,) for metric in metrics}) for p in range(4)
    ]
    spec = replace(make_experiment().spec, metrics=tuple(metrics))
    document, _codes = written(HYPERFINE, make_experiment(spec=spec, trials=trials), tmp_path)
    ours = document["results"][1]
    assert list(ours) == list(theirs)
    assert {k: type(v) for k, v in ours.items()} == {k: type(v) for k, v in theirs.items()}


def test_what_schema_2_says_is_true_of_the_runs(tmp_path):
    document, _codes = written(HYPERFINE_2, make_experiment(blocks=2), tmp_path)
    old = document["results"][0]
    assert document["schema_version"] == 2
    assert document["primary_metric"] == "time_wall_clock"
    assert document["metadata"]["start_time"] == "2023-11-14T22:13:21Z"
    assert old["measurements"][0] == {
        "time_wall_clock": {"value": 0.1, "unit": "second"},
        "memory_peak_resident": {"value": 2048.0, "unit": "byte"},
        "exit_code": 0,
    }
    assert old["summary"]["memory_peak_resident"] == {
        "unit": "byte",
        "count": 2,
        "mean": 4096.0,
        "stddev": pytest.approx(statistics.stdev([2048.0, 6144.0])),
        "median": 4096.0,
        "min": 2048.0,
        "max": 6144.0,
    }
    assert document["results"][1]["parameters"] == {"size": {"value": "10"}}


def test_one_run_has_no_standard_deviation(tmp_path):
    experiment = make_experiment(blocks=1)
    assert written(HYPERFINE, experiment, tmp_path)[0]["results"][0]["stddev"] is None
    summary = written(HYPERFINE_2, experiment, tmp_path)[0]["results"][0]["summary"]
    assert summary["time_wall_clock"]["stddev"] is None


def test_failed_trials_and_other_metrics_are_told_of(tmp_path):
    spec = make_experiment().spec
    spec = replace(spec, metrics=(*spec.metrics, MetricSpec("score", "points", "higher")))
    trials = (make_trial(0), failed_trial(1), make_trial(2), make_trial(3))
    experiment = make_experiment(spec=spec, trials=trials)
    document, codes = written(HYPERFINE, experiment, tmp_path)
    assert codes == ["failed-left-out", "metrics-left-out"]
    assert [len(result["times"]) for result in document["results"]] == [2, 1]


@pytest.mark.parametrize(
    ("chosen", "codes"), [(HYPERFINE, ["metrics-left-out"]), (HYPERFINE_2, [])]
)
def test_a_metric_that_schema_2_alone_has_a_place_for_is_told_of_by_schema_1(
    chosen, codes, tmp_path
):
    spec = make_experiment().spec
    spec = replace(spec, metrics=(*spec.metrics, MetricSpec("cycles", "count")))
    assert written(chosen, make_experiment(spec=spec), tmp_path)[1] == codes


def test_an_experiment_of_failures_cannot_be_exported(tmp_path):
    experiment = make_experiment(trials=(failed_trial(0), failed_trial(1)))
    with pytest.raises(DataError, match="no successful trial"):
        HYPERFINE.write(experiment, str(tmp_path / "out.json"))
    assert list(tmp_path.iterdir()) == []


def test_several_iterations_of_a_trial_count_by_their_mean(tmp_path):
    trials = (make_trial(0, measurements={"wall_time": (1.0, 2.0)}), make_trial(1))
    document, _codes = written(HYPERFINE, make_experiment(trials=trials), tmp_path)
    assert document["results"][0]["times"] == [1.5]


@pytest.mark.parametrize(
    ("name", "chosen"), [("hyperfine_1.json", HYPERFINE), ("hyperfine_2.json", HYPERFINE_2)]
)
def test_hyperfines_own_file_comes_back_as_it_was(name, chosen, tmp_path):
    theirs = json.loads((FIXTURES / name).read_text())["results"]
    experiment = HYPERFINE.read(str(FIXTURES / name))
    ours = written(chosen, experiment, tmp_path)[0]["results"]
    for one, other in zip(ours, theirs, strict=True):
        for field in ("stddev", "mean"):
            if field in other:
                assert one.pop(field) == pytest.approx(other.pop(field), rel=1e-12)
        for summary in one.get("summary", {}).values():
            summary.update(
                {k: pytest.approx(v, rel=1e-9) for k, v in summary.items() if k != "unit"}
            )
        assert one == other
