"""Iterations inside a trial: chosen, trimmed, and where they fail, told in one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    IterationsSpec,
    LaunchSpec,
    MetricSpec,
    Variant,
)
from steelyard.measure.iterations import (
    IterationFiles,
    found_iterations,
    iterations_file,
    parse_iteration_metric,
    parse_iterations,
)
from steelyard.measure.journal_reader import read_journal
from steelyard.measure.trial_journal import JournalWriter
from tests.unit.measure.test_trial_journal import record

TIME = MetricSpec("iteration_time", "s", source="iterations")
LINES = IterationsSpec("json-lines")


def lines(*values: float, warm: int = 0, **about: Any) -> str:
    return "".join(
        json.dumps({"value": value, "warmup": index < warm, **about}) + "\n"
        for index, value in enumerate(values)
    )


def ended(directory: Path, output: str = "", written: str | None = None) -> dict[str, Any]:
    """The record of a trial that printed `output` and wrote `written` to its file."""
    path = directory / "3.out"
    path.write_text(output)
    if written is not None:
        Path(iterations_file(str(directory), 3)).write_text(written)
    return record(3, output=str(path))


def test_the_file_of_the_trial_comes_before_its_output(tmp_path: Path) -> None:
    found = found_iterations(ended(tmp_path, lines(9), lines(1, 2)), LINES, [TIME])
    assert found.values == {"iteration_time": (1, 2)}


def test_a_byte_order_mark_hides_no_iteration(tmp_path: Path) -> None:
    found = found_iterations(ended(tmp_path, "", "\ufeff" + lines(1, 2, 3)), LINES, [TIME])
    assert found.values == {"iteration_time": (1, 2, 3)}


def test_the_output_is_read_where_there_is_no_file(tmp_path: Path) -> None:
    found = found_iterations(ended(tmp_path, "hello\n" + lines(9)), LINES, [TIME])
    assert found.values == {"iteration_time": (9,)}


def test_the_harnesss_warm_up_is_dropped_and_kept_aside(tmp_path: Path) -> None:
    found = found_iterations(ended(tmp_path, lines(5, 4, 3, warm=1)), LINES, [TIME])
    assert (found.values, found.warmups) == (
        {"iteration_time": (4, 3)},
        {"iteration_time": (5,)},
    )


@pytest.mark.parametrize(("count", "kept"), [(0, (5, 4, 3)), (2, (3,))])
def test_the_users_count_of_warm_ups_takes_the_place_of_the_harnesss(
    tmp_path: Path, count: int, kept: tuple[float, ...]
) -> None:
    spec = IterationsSpec("json-lines", warmup_count=count)
    found = found_iterations(ended(tmp_path, lines(5, 4, 3, warm=1)), spec, [TIME])
    assert found.values["iteration_time"] == kept


@pytest.mark.parametrize(
    ("spec", "output", "told"),
    [
        (IterationsSpec("json-lines", warmup_count=9), lines(1), "none is left"),
        (LINES, "", "Its output is empty"),
        (LINES, "hello", "'json-lines' found no iterations. Its output has no line such as"),
        (LINES, lines(float("nan")), "must be a finite number, not NaN"),
        (LINES, lines(-1.0), "must be 0 or above, as a time"),
        (LINES, '{"value": 1', "line 1 is not whole JSON"),
        (LINES, lines(1, metric="score"), "There is no metric 'iteration_time', but score"),
        (LINES, lines(1, direction="higher"), "--metric iteration_time=iterations:s:higher"),
        (LINES, lines(1, unit="points"), "is in points"),
        (LINES, lines(1, benchmark="a") + lines(2, benchmark="b"), "'a', 'b'. Name one with"),
        (IterationsSpec("json-lines", benchmark="c"), lines(1), "holds no benchmark 'c'"),
        (IterationsSpec("json-lines", file="out.json"), lines(1), "wrote no file 'out.json'"),
        (IterationsSpec("jmh"), "===== DaCapo fop PASSED in 3 msec =====", "adapter 'dacapo'"),
        (IterationsSpec("dacapo"), "===== DaCapo fop FAILED =====", "iteration 1 of fop FAILED"),
    ],
)
def test_what_is_wrong_is_told_with_the_adapters_name(
    tmp_path: Path, spec: IterationsSpec, output: str, told: str
) -> None:
    found = found_iterations(ended(tmp_path, output), spec, [TIME])
    assert found.values == {}
    assert found.problem is not None
    assert found.problem.startswith(f"The adapter '{spec.adapter}' found no iterations. ")
    assert told in found.problem


def test_a_counter_that_is_no_number_is_told_to_those_alone_who_ask_for_it(tmp_path: Path) -> None:
    row = '{"name": "b", "real_time": 2, "time_unit": "s", "ratio": NaN}'
    output = f'{{"context": {{"num_cpus": 1}}, "benchmarks": [{row}]}}'
    spec = IterationsSpec("google-benchmark")
    assert found_iterations(ended(tmp_path, output), spec, [TIME]).values == {
        "iteration_time": (2.0,)
    }
    ratio = MetricSpec("ratio", "count", source="iterations")
    problem = found_iterations(ended(tmp_path, output), spec, [ratio]).problem
    assert problem is not None
    assert "benchmarks[0].ratio must be a finite number, not NaN" in problem


def test_two_executions_in_one_trial_are_refused_with_the_harnesss_option(tmp_path: Path) -> None:
    sample = Path("tests/data/adapters/pyperf.json").read_text("utf-8")
    spec = IterationsSpec("pyperf", benchmark="sort")
    problem = found_iterations(ended(tmp_path, sample), spec, [TIME]).problem
    assert problem is not None
    assert "There are 2 executions of sort" in problem
    assert "--processes 1" in problem


def test_a_trial_without_iterations_is_failed_with_the_reason(tmp_path: Path) -> None:
    trial = _read_back(tmp_path, ended(tmp_path, "hello"))
    assert (trial.status, trial.reason) == ("failed", "metric")
    assert "The adapter 'json-lines' found no iterations" in trial.details["error"]


def test_what_was_not_read_before_a_kill_is_read_with_the_journal(tmp_path: Path) -> None:
    trial = _read_back(tmp_path, ended(tmp_path, "", lines(5, 4, 3, warm=1)))
    assert trial.measurements["iteration_time"] == (4, 3)
    assert trial.details["warmup_iterations"] == {"iteration_time": (5,)}


def test_the_journals_line_holds_without_the_files(tmp_path: Path) -> None:
    taken = {"printed": 3, "values": {"iteration_time": [4.0]}, "warmups": {"iteration_time": [5]}}
    trial = _read_back(tmp_path, record(3, output="gone"), taken)
    assert trial.measurements["iteration_time"] == (4.0,)
    assert trial.details["warmup_iterations"] == {"iteration_time": [5]}


def _read_back(directory: Path, *written: dict[str, Any]) -> Any:
    variant = Variant("a", LaunchSpec(("a",)))
    spec = ExperimentSpec(
        "01HZX000000000000000000000", "measurement", (variant,), (TIME,), 7, iterations=LINES
    )
    path = str(directory / "journal")
    with JournalWriter(path, spec, {}, 1.0) as journal:
        for line in written:
            journal.append(line)
    experiment = read_journal(path)
    assert experiment.spec == spec
    return experiment.trials[0]


def test_each_trial_has_a_file_of_its_own_and_a_former_one_is_removed(tmp_path: Path) -> None:
    files = IterationFiles(LINES, str(tmp_path))
    path = tmp_path / "7.iterations"
    path.write_text("of a session that was killed")
    variant = Variant("a", LaunchSpec(("run", "-o", "{iterations}"), (("OUT", "{iterations}"),)))
    launch = files.variant_for(variant, 7).launch
    assert launch.argv == ("run", "-o", str(path))
    assert dict(launch.environment) == {"OUT": str(path), "STEELYARD_ITERATIONS": str(path)}
    assert not path.exists()


def test_a_directory_in_the_place_of_the_file_is_no_output_and_is_removed(tmp_path: Path) -> None:
    ended_trial, place = ended(tmp_path, lines(9)), Path(iterations_file(str(tmp_path), 3))
    (place / "deep").mkdir(parents=True)
    found = found_iterations(ended_trial, LINES, [TIME])
    assert found.problem is not None
    assert "Its file of iterations is a directory" in found.problem
    IterationFiles(LINES, str(tmp_path)).variant_for(Variant("a", LaunchSpec(("a",))), 3)
    assert not place.exists()


def test_the_shell_is_given_a_quoted_name(tmp_path: Path) -> None:
    directory = tmp_path / "a b"
    directory.mkdir()
    variant = Variant("a", LaunchSpec(("/bin/sh", "-c", "run -o {iterations}")))
    argv = IterationFiles(LINES, str(directory)).variant_for(variant, 0).launch.argv
    assert argv[2] == f"run -o '{directory}/0.iterations'"


def test_the_users_clean_up_follows_the_moving_of_the_file(tmp_path: Path) -> None:
    files = IterationFiles(IterationsSpec("jmh", file="out.json"), str(tmp_path))
    variant = Variant("a", LaunchSpec(("a",), working_directory="/there"), cleanup=("rm", "x"))
    cleanup = files.variant_for(variant, 2).cleanup
    assert cleanup is not None
    assert cleanup[4:] == (
        "/there/out.json",
        str(tmp_path / "started"),
        str(tmp_path / "2.iterations"),
        "rm",
        "x",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("jhm", "no adapter called 'jhm'. Did you mean 'jmh'."),
        ("jmh:", "names nothing after the colon"),
        ("regex", "has no group"),
        ("regex:took [0-9]+", "has no group"),
        ("regex:took ([0-9]+", "is wrong"),
    ],
)
def test_a_wrong_option_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("(", r"\(")):
        parse_iterations(text, None, None)


def test_a_pattern_may_hold_colons_and_a_file_too() -> None:
    assert parse_iterations("regex:t: ([0-9]+):ms", None, 3).pattern == "t: ([0-9]+):ms"
    assert parse_iterations("jmh:a:b.json", "x", None).file == "a:b.json"


def test_a_metric_of_the_harnesss_own_is_asked_for_with_its_unit() -> None:
    asked = parse_iteration_metric("rate=iterations:1/s:higher")
    assert asked == MetricSpec("rate", "1/s", "higher", "iterations")
    assert parse_iteration_metric("heap=iterations:MiB") == MetricSpec(
        "heap", "bytes", source="iterations"
    )
    assert parse_iteration_metric("score=json:a.b:points") is None
    with pytest.raises(UsageError, match="NAME=iterations:UNIT"):
        parse_iteration_metric("rate=iterations:")
