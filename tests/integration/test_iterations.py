"""Iterations of programs with a harness, weighed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from tests.integration.conftest import User
from tests.plans import IDENTIFIER

LINES = 'for i in 1 2 3; do echo "{\\"value\\": 0.$i$1, \\"unit\\": \\"ms\\"}"; done'
Script = Callable[..., str]


def trials_of(user: User) -> list[dict]:
    return user.types("show", "latest", "--json", "-", "--trials").document()["trials"]


def test_the_iterations_of_each_trial_are_its_measurements(user: User, script: Script) -> None:
    path = script(f"{{ {LINES}; }} > $STEELYARD_ITERATIONS")
    arguments = ("--runs", "3", "--iterations", "json-lines", "--json", "-")
    told = user.types("compare", *arguments, path, f"{path} 5")
    document = told.document()
    assert (document["metric"], document["unit"]) == ("iteration_time", "s")
    for variant in document["variants"]:
        assert variant["repetitions"] == {"build": 1, "execution": 3, "iteration": 3}
    assert abs(document["variants"][0]["mean"]["estimate"] - 0.2e-3) < 1e-9
    trials = trials_of(user)
    assert len(trials) == 6
    assert {len(trial["measurements"]["iteration_time"]) for trial in trials} == {3}


def test_the_harnesss_own_file_is_taken_from_each_trial(user: User, script: Script) -> None:
    path = script(f"{{ {LINES}; }} > out.json")
    cleaned = script("echo x >> cleaned", "clean")
    arguments = ("--runs", "3", "--warmup-iterations", "1", "--cleanup", cleaned)
    told = user.types("measure", *arguments, "--iterations", "json-lines:out.json", "--", path)
    assert told.status == 0, told.err
    assert {len(t["measurements"]["iteration_time"]) for t in trials_of(user)} == {2}
    assert (user.home / "cleaned").read_text() == "x\n" * 3
    assert not (user.home / "out.json").exists()


def test_a_file_from_before_the_experiment_is_no_trials_and_stays(
    user: User, script: Script
) -> None:
    old = user.home / "out.json"
    old.write_text('{"value": 1}\n')
    os.utime(old, (1_000_000_000, 1_000_000_000))
    told = user.types("measure", "--iterations", "json-lines:out.json", "--", script("true"))
    assert told.status == 3
    assert "The trial wrote no file 'out.json'" in told.err
    assert old.read_text() == '{"value": 1}\n'


def test_another_tools_output_fails_the_trials_and_is_named(user: User, script: Script) -> None:
    sample = Path("tests/data/adapters/jmh.json").absolute()
    told = user.types("measure", "--iterations", "pyperf", "--", script(f"cat {sample}"))
    assert told.status == 3
    assert "The adapter 'pyperf' found no iterations" in told.err
    assert "It looks like the output of JMH: try the adapter 'jmh'" in told.err
    assert {(t["status"], t["reason"]) for t in trials_of(user)} == {("failed", "metric")}


def test_a_trial_without_iterations_fails_and_the_others_are_kept(
    user: User, script: Script
) -> None:
    path = script(f"echo x >> count; [ $(wc -l < count) = 2 ] || {{ {LINES}; }}")
    arguments = ("--runs", "4", "--iterations", "json-lines", "--json", "-")
    told = user.types("measure", *arguments, "--", path)
    assert told.status == 3
    assert told.document()["variants"][0]["failed"] == 1
    assert [trial["status"] for trial in trials_of(user)] == ["ok", "failed", "ok", "ok"]


def test_a_value_that_is_not_plausible_fails_its_trial_alone(user: User, script: Script) -> None:
    path = script(
        "echo x >> count; v=0.5; [ $(wc -l < count) = 2 ] && v=1.7e308; "
        'for i in 1 2 3; do echo "{\\"value\\": $v}"; done'
    )
    told = user.types("measure", "--runs", "3", "--iterations", "json-lines", "--", path)
    assert "Traceback" not in told.err
    trials = trials_of(user)
    assert [trial["reason"] for trial in trials] == [None, "metric", None]
    assert "must be at most 1e+150 to be plausible" in trials[1]["details"]["error"]


def test_a_directory_in_the_place_of_the_file_fails_its_trial_alone(
    user: User, script: Script
) -> None:
    path = script(
        "echo x >> count; echo $STEELYARD_ITERATIONS >> named; [ $(wc -l < count) = 2 ] && "
        f"mkdir -p $STEELYARD_ITERATIONS/deep || {{ {LINES}; }} > $STEELYARD_ITERATIONS"
    )
    told = user.types("measure", "--runs", "3", "--iterations", "json-lines", "--", path)
    assert "Traceback" not in told.err
    trials = trials_of(user)
    assert [(t["status"], t["reason"]) for t in trials] == [
        ("ok", None),
        ("failed", "metric"),
        ("ok", None),
    ]
    assert "Its file of iterations is a directory" in trials[1]["details"]["error"]
    named = (user.home / "named").read_text().split()
    assert not any(os.path.exists(name) for name in named)


def test_any_output_is_read_by_a_regular_expression(user: User, script: Script) -> None:
    path = script('echo "warm 9 ms"; echo "run 4 ms"; echo "run 6 ms"')
    pattern = r"regex:(?:(?P<warmup>warm)|run) (?P<value>\d+) ms:ms"
    told = user.types("measure", "--runs", "2", "--iterations", pattern, "--json", "-", "--", path)
    assert abs(told.document()["variants"][0]["mean"]["estimate"] - 0.005) < 1e-12


def test_an_experiment_with_iterations_is_resumed(user: User, script: Script) -> None:
    path = script(f"{{ {LINES}; }} > $STEELYARD_ITERATIONS")
    user.types("measure", "--runs", "2", "--iterations", "json-lines", "--", path)
    told = user.types("resume", "latest", "--runs", "4", "--json", "-")
    assert told.document()["variants"][0]["repetitions"]["execution"] == 4


def test_a_trial_for_an_executor_has_its_iterations(user: User, script: Script) -> None:
    path = script(f"{{ {LINES}; }} > $STEELYARD_ITERATIONS")
    spec = {
        "identifier": IDENTIFIER,
        "kind": "measurement",
        "variants": [{"name": "a", "launch": {"argv": [path]}}],
        "metrics": [{"name": "iteration_time", "unit": "s", "source": "iterations"}],
        "iterations": {"adapter": "json-lines", "warmup_count": 1},
        "seed": 1,
    }
    (user.home / "part.json").write_text(json.dumps({"experiment": spec, "positions": [4]}))
    (trial,) = user.types("trial", "run", "part.json").document()["trials"]
    assert (trial["status"], len(trial["measurements"]["iteration_time"])) == ("ok", 2)
    assert len(trial["details"]["warmup_iterations"]["iteration_time"]) == 1


def test_options_that_need_an_adapter_say_so(user: User) -> None:
    told = user.types("measure", "--warmup-iterations", "3", "--", "true")
    assert told.status == 2
    assert "--warmup-iterations goes with --iterations only" in told.err


HARNESS = (
    'for b in sort sum; do for i in 1 2 3; do echo "{\\"benchmark\\": \\"$b\\", '
    '\\"value\\": $1.$i}"; done; done'
)


def test_a_comparison_takes_all_benchmarks_of_both_programs(user: User, script: Script) -> None:
    path = script(HARNESS)
    arguments = ("--runs", "5", "--iterations", "json-lines", "--name", "old", "--name", "new")
    told = user.types("compare", *arguments, "--json", "-", f"{path} 2", f"{path} 4")
    assert told.status == 0, told.err
    document = told.document()
    found = {each["benchmark"]: each for each in document["comparisons"]}
    assert list(found) == ["sort", "sum"]
    for each in found.values():
        assert abs(each["ratio"]["estimate"] - 4.2 / 2.2) < 1e-9
        assert each["verdict"] == "slower"
    (mean,) = document["geometric_mean"]["candidates"]
    assert abs(mean["ratio"]["estimate"] - 4.2 / 2.2) < 1e-9
    for variant in document["variants"]:
        assert variant["repetitions"]["execution"] == 5
        assert variant["repetitions"]["iteration"] == 3
    again = user.types("report", "latest", "--json", "-").document()
    assert again["comparisons"] == document["comparisons"]
    assert len(trials_of(user)) == 10, "the store has executions"
    resumed = user.types("resume", "latest", "--runs", "+2", "--json", "-")
    assert resumed.status == 0, resumed.err
    assert resumed.document()["variants"][3]["repetitions"]["execution"] == 7
    assert user.types("report", "latest", "-o", "page.html").status == 0


def test_a_benchmark_that_one_program_lacks_is_told_and_the_others_compared(
    user: User, script: Script
) -> None:
    path = script(f"[ $1 = 4 ] && set -- 4 && exec ./less; {HARNESS}")
    script(
        'for b in sort sum-2; do echo "{\\"benchmark\\": \\"$b\\", \\"value\\": 4}"; done', "less"
    )
    arguments = ("--runs", "5", "--iterations", "json-lines", "--name", "old", "--name", "new")
    told = user.types("compare", *arguments, f"{path} 2", f"{path} 4")
    assert told.status == 0, told.err
    assert "sum, sum-2 are left out, for not every program has them." in " ".join(told.out.split())
    script('for b in x y; do echo "{\\"benchmark\\": \\"$b\\", \\"value\\": 4}"; done', "less")
    told = user.types("compare", *arguments, f"{path} 2", f"{path} 4")
    assert told.status == 2
    assert "no benchmark in common: old has sort, sum; new has x, y" in told.err


def test_a_program_that_always_fails_is_told_and_not_what_it_lacks(
    user: User, script: Script
) -> None:
    arguments = ("--runs", "4", "--iterations", "json-lines")
    told = user.types("compare", *arguments, f"{script(HARNESS)} 2", "true")
    assert told.status == 3
    assert "trials of 'true' failed" in told.err


def test_one_program_with_several_benchmarks_still_asks_which(user: User, script: Script) -> None:
    told = user.types("measure", "--iterations", "json-lines", "--", script(HARNESS), "2")
    assert told.status == 3
    assert "Name one with --benchmark" in told.err


def test_a_benchmark_that_its_harness_calls_failed_is_left_out_of_all(
    user: User, script: Script
) -> None:
    sample = Path("tests/data/adapters/google-benchmark.json").absolute()
    path = script(f"cat {sample}")
    arguments = ("--runs", "4", "--iterations", "google-benchmark", "--json", "-")
    told = user.types("compare", *arguments, path, f"{path} 2")
    assert told.status == 0, told.err
    document = told.document()
    assert len(document["comparisons"]) >= 2
    assert any("BM_Skips is left out" in each["message"] for each in document["warnings"])


def test_tracks_of_a_comparison_of_all_benchmarks_are_its_benchmarks(
    user: User, script: Script
) -> None:
    path = script(HARNESS)
    arguments = ("--runs", "4", "--iterations", "json-lines", "--name", "old", "--name", "new")
    assert user.types("compare", *arguments, f"{path} 2", f"{path} 4").status == 0
    told = user.types("history", "add", "latest", "--revision", "abc")
    assert "4 new values in 4 tracks" in told.out + told.err
