"""`steelyard compare` and its like, as a user would type them."""

import os
import signal

import pytest

from tests.integration.conftest import validate
from tests.patience import PATIENCE_S, awaited


def executions(document):
    return [variant["repetitions"]["execution"] for variant in document["variants"]]


COST = ("--metric", r"cost=regex:cost (\d+):count")  # decides alike on a busy machine


def test_a_comparison_of_two_programs_gives_a_verdict_and_a_bounded_ratio(user, script):
    # Costs of 1000 to 1100 without order, the same each time.
    printed = script("echo >> ran; n=$(wc -l < ran); echo cost $((1000 + n * n * n % 101))")
    called = ("--runs", "12", "--seed", "1", *COST, "--json", "-")
    told = user.types("compare", *called, f"{printed} old", f"{printed} new")
    document = told.document()
    assert told.status == 0, told.err
    assert executions(document) == [12, 12]
    ratio = document["comparisons"][0]["ratio"]
    assert ratio["low"] < ratio["estimate"] < ratio["high"]
    assert ratio["method"] == "fieller-blocks"
    assert document["stopped"] == "runs"


def test_the_words_come_with_the_verdict_and_without_colour_when_piped(user):
    told = user.types("compare", "--runs", "10", *COST, "echo cost 10", "echo cost 20")
    assert told.status == 0
    assert "needs 100.000 % ± 0.000 % more cost than echo cost 10, 2.00 times as many" in told.out
    assert "\x1b" not in told.out


def test_twice_the_cost_is_slower_and_the_gate_says_no(user):
    told = user.types(
        *("compare", "--runs", "10", *COST, "--fail-if", "slower:2%", "--json", "-"),
        "echo cost 10",
        "echo cost 20",
    )
    assert told.document()["comparisons"][0]["verdict"] == "slower"
    assert told.status == 1


def test_the_gate_lets_a_faster_program_pass(user):
    told = user.types(
        *("compare", "--runs", "10", *COST, "--fail-if", "slower", "--json", "-"),
        "echo cost 20",
        "echo cost 10",
    )
    assert told.document()["comparisons"][0]["verdict"] == "faster"
    assert told.status == 0


def test_three_programs_get_intervals_that_hold_together(user):
    told = user.types("compare", "--runs", "10", "--json", "-", "true", "true", "true")
    comparisons = told.document()["comparisons"]
    assert len(comparisons) == 2
    assert all(comparison["simultaneous"] for comparison in comparisons)


def test_a_sweep_over_two_commands_compares_at_equal_parameters(user):
    told = user.types(
        *("compare", "--runs", "5", "--parameter", "n=1,2", "--json", "-"),
        "echo {n}",
        "printf {n}",
    )
    pairs = [(c["baseline"], c["candidate"]) for c in told.document()["comparisons"]]
    assert pairs == [
        ("echo 1 (n=1)", "printf 1 (n=1)"),
        ("echo 2 (n=2)", "printf 2 (n=2)"),
    ]


def test_a_program_that_does_not_exist_is_told_before_any_trial(user):
    told = user.types("compare", "--json", "-", "true", "no-such-program-here")
    assert told.status == 2
    assert told.document()["kind"] == "error"
    assert "no-such-program-here" in told.err
    assert "Traceback" not in told.err


def test_a_program_that_always_fails_ends_the_experiment_and_is_kept(user, script):
    program = script("echo 'the disk is on fire' >&2; exit 7")
    told = user.types("compare", "true", program)
    assert told.status == 3
    assert "exit code 7" in told.err
    assert "the disk is on fire" in told.err
    listed = user.types("show", "latest", "--json", "-").document()
    assert listed["kind"] == "experiment"


def test_a_program_that_fails_at_times_is_answered_with_the_number_of_failures(user, script):
    program = script("n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; [ $((n % 4)) -ne 3 ]")
    told = user.types("compare", "--runs", "16", "--json", "-", "true", program)
    document = told.document()
    assert told.status == 3
    assert document["variants"][1]["failed"] == 4
    assert any(warning["code"] == "failed-trials" for warning in document["warnings"])


def test_a_program_that_vanishes_midway_leaves_failed_trials_and_an_answer(user, script):
    program = script('n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; [ $n -lt 9 ] || rm "$0"')
    told = user.types("compare", "--runs", "14", "--json", "-", "true", program)
    document = told.document()
    assert told.status == 3
    assert document["variants"][1]["failed"] == 4


def test_an_expected_exit_code_is_no_failure(user):
    told = user.types("measure", "--runs", "5", "--exit-code", "1", "--", "false")
    assert told.status == 0, told.err


def test_the_shell_runs_only_when_asked_for(user):
    plain = user.types("measure", "--runs", "3", "--", "sh", "-c", "exit 0")
    shell = user.types("measure", "--runs", "3", "--shell", "exit 0 | cat")
    assert (plain.status, shell.status) == (0, 0)


def test_preparation_and_cleanup_surround_each_trial(user, script):
    log = user.home / "log"
    step = script(f'echo "$1" >>{log}', "step")
    told = user.types(
        *("measure", "--runs", "3", "--setup", f"{step} setup"),
        *("--prepare", f"{step} prepare", "--cleanup", f"{step} cleanup", "--", step, "run"),
    )
    assert told.status == 0, told.err
    assert log.read_text().split() == ["setup", *["prepare", "run", "cleanup"] * 3]


def test_a_value_that_the_program_prints_can_be_the_metric(user, script):
    program = script('echo "score: 42.5 points"')
    told = user.types(
        *("measure", "--runs", "5", "--metric", r"score=regex:score. ([0-9.]+):points"),
        *("--json", "-", "--", program),
    )
    document = told.document()
    assert (document["metric"], document["unit"]) == ("score", "points")
    assert document["variants"][0]["mean"]["estimate"] == 42.5


def test_a_timeout_is_a_failed_trial(user):
    told = user.types("measure", "--timeout", "50ms", "--", "sleep", "100")
    assert told.status == 3
    assert "timeout" in told.err


def test_variables_directory_and_input_reach_the_program(user, script):
    (user.home / "in").write_text("from the file\n")
    (user.home / "there").mkdir()
    program = script(
        'read line; [ "$line" = "from the file" ] && [ "$A" = 1 ] && [ -z "${HOME+x}" ] '
        '&& [ "$(basename "$PWD")" = there ]'
    )
    told = user.types(
        *("measure", "--runs", "3", "--env", "A=1", "--env", "HOME"),
        *("--stdin", "in", "--directory", "there", "--", program),
    )
    assert told.status == 0, told.err


def test_output_that_is_not_text_does_no_harm(user):
    told = user.types(
        "measure", "--runs", "3", "--json", "-", "--", "sh", "-c", r"printf '\377\200'; exit 1"
    )
    assert told.status == 3
    assert "Traceback" not in told.err


def test_an_argument_of_a_hundred_kilobytes_is_passed_on(user):
    long = "x" * 100_000
    told = user.types("measure", "--runs", "3", "--json", "-", "--", "test", long, "=", long)
    assert told.status == 0, told.err


def test_the_same_seed_gives_the_same_order(user):
    def order():
        told = user.types("compare", "--runs", "8", "--seed", "5", "true", "true", "true")
        assert told.status == 0, told.err
        shown = user.types("show", "latest", "--trials", "--json", "-").document()
        return [trial["variant"] for trial in shown["trials"]]

    assert order() == order()


def test_resuming_runs_only_what_is_missing(user):
    user.types("compare", "--runs", "4", "true", "true")
    told = user.types("resume", "latest", "--runs", "9", "--json", "-")
    assert told.status == 0, told.err
    assert executions(told.document()) == [9, 9]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_comparison_answers_with_what_it_has_and_can_be_resumed(
    user, script, number
):
    marker = user.home / "started"
    program = script(f"echo . >>{marker}; sleep 0.02")
    process = user.start("compare", "--runs", "1000", "--json", "answer", program, program)
    awaited(lambda: marker.exists() and len(marker.read_text()) >= 40, process)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert (user.home / "answer").exists()
    told = user.types("resume", "latest", "--runs", "12", "--json", "-")
    assert told.status == 0, told.err
    assert min(executions(told.document())) >= 12


def test_a_second_measurement_is_refused_with_the_holder(user, script):
    marker = user.home / "started"
    program = script(f"echo . >>{marker}; exec sleep 1000")
    first = user.start("measure", "--runs", "1", "--", program)
    try:
        awaited(marker.exists, first)
        told = user.types("measure", "--runs", "1", "--json", "-", "--", "true")
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=PATIENCE_S)
    assert told.status == 2
    assert told.document()["code"] == "busy"
    assert str(first.pid) in told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "true"), "two commands"),
        (("compare", "--precision", "5x", "true", "true"), "--precision"),
        (("compare", "--budget", "soon", "true", "true"), "--budget"),
        (("compare", "--runs", "3", "--precision", "1%", "true", "true"), "--runs"),
        (("compare", "--fail-if", "sideways", "true", "true"), "--fail-if"),
        (("compare", "--metric", "no_such", "true", "true"), "no_such"),
        (("compare", "--metric", "x=regex:(:s", "true", "true"), "regular expression"),
        (("compare", "--parameter", "n", "true", "true"), "--parameter"),
        (("measure", "--directory", "/no/such", "--", "true"), "/no/such"),
        (("measure", "--stdin", "/no/such", "--", "true"), "/no/such"),
        (("measure", "--cpus", "4096", "--", "true"), "4096"),
        (("measure",), "Missing argument"),
        (("resume", "nothing"), "no experiment"),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_a_wrong_call_is_one_message_that_names_the_mistake(user, arguments, words):
    told = user.types(*arguments)
    assert told.status == 2, told.err
    assert words in told.err
    assert told.err.startswith("steelyard: error: ")
    assert len(told.err.strip().splitlines()) == 1


def test_a_file_that_is_no_store_is_refused_before_any_trial(user, script):
    (user.home / "broken").write_bytes(os.urandom(4096))
    marker = user.home / "ran"
    told = user.types("measure", "--store", "broken", "--", script(f"touch {marker}"))
    assert told.status == 2
    assert "broken" in told.err
    assert not marker.exists()


def test_a_counter_that_the_machine_lacks_is_unavailable_and_never_zero(user):
    told = user.types(
        "measure",
        "--runs",
        "3",
        "--metric",
        "wall_time",
        "--metric",
        "cycles",
        "--json",
        "-",
        "--",
        "true",
    )
    assert told.status == 0, told.err
    cycles = told.document()["variants"][0]["metrics"]["cycles"]
    assert cycles["available"] is (cycles["mean"] is not None)
    if cycles["available"]:
        assert cycles["mean"]["estimate"] > 0


def test_gates_are_said_kept_and_judged_anew(user):
    slower = (*COST, "echo cost 10", "echo cost 20")
    gates = (
        "--require",
        "not-slower:20%",
        "--fail-if",
        "faster:20%",
        "--fail-if",
        "slower:20%:p50",
    )
    told = user.types("compare", "--runs", "8", *gates, *slower)
    assert told.status == 1, told.err
    assert "gate failed: echo cost 20 needs 100.000 % ± 0.000 % more cost than echo" in told.out
    assert "limit 20 %" in told.out
    document = user.types("report", "--format", "json").document()
    validate(document)
    assert [check["passed"] for check in document["gate"]["checks"]] == [True, False, False]
    for form in ("text", "markdown", "html", "junit"):
        reported = user.types("report", "--format", form, "-o", "-")
        assert reported.status == 0
        assert "gate failed: " in reported.out or 'type="gate"' in reported.out
    assert user.types("report", "--format", "text", "--fail-if", "slower:9%").status == 1
    assert user.types("report", "--format", "text", "--fail-if", "faster:9%").status == 0
