"""Initial experiments that are run, and their counts in later ones."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sqlite3
from collections.abc import Callable

import pytest

from tests.integration.conftest import Told, User

Script = Callable[..., str]

# Iterations vary, and executions by themselves: deterministic, so that no noise decides.
BENCH = """
n=$(cat {home}/n 2>/dev/null || echo 0)
n=$((n + 1)); echo $n > {home}/n
awk -v n=$n -v c=${{STEELYARD_ITERATION_COUNT:-6}} -v spread={spread} 'BEGIN {{
  srand(n); base = 1 + 0.1 * rand()
  for (i = 0; i < c; i++) printf "{{\\"value\\": %.6f}}\\n", base + spread * rand() }}'
"""


@pytest.fixture
def bench(user: User, script: Script) -> Callable[[float], str]:
    def make(spread: float = 1.0) -> str:
        (user.home / "n").unlink(missing_ok=True)
        return script(BENCH.format(home=user.home, spread=spread), "bench")

    return make


ITERATIONS = ("--iterations", "json-lines")


def codes(told: Told) -> list[str]:
    return [warning["code"] for warning in told.document()["warnings"]]


def dimension(user: User, program: str, *options: str) -> Told:
    counts = ("--repeat", "execution=12", "--repeat", "iteration=12")
    return user.types("dimension", *ITERATIONS, *counts, *options, "--json", "-", "--", program)


def test_an_initial_experiment_is_run_kept_and_answered(user: User, bench) -> None:
    told = dimension(user, bench())
    assert told.status == 0, told.err
    document = told.document()
    levels = {level["level"]: level for level in document["levels"]}
    assert (levels["execution"]["count"], levels["iteration"]["count"]) == (12, 12)
    assert levels["execution"]["cost_s"] is None or levels["execution"]["cost_s"] > 0
    shown = user.types("show", document["experiment"], "--json", "-").document()
    assert shown["specification"]["note"] == "initial experiment"
    again = user.types("dimension", document["experiment"], "--json", "-").document()
    assert again["levels"] == document["levels"]


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        (("--", "true"), {"execution": 30}),
        (("--build", "cp /bin/true p", "--repeat", "execution=2", "--", "{build}/p"),
         {"build": 30, "execution": 2}),
    ],
)  # fmt: skip
def test_levels_have_their_usual_counts(user: User, options, counts) -> None:
    document = user.types("dimension", "--json", "-", *options).document()
    assert {level["level"]: level["count"] for level in document["levels"]} == counts


def test_builds_are_dimensioned_with_their_costs(user: User) -> None:
    told = user.types(
        *("dimension", "--build", "cp /bin/true p", "--repeat", "build=6"),
        *("--repeat", "execution=3", "--json", "-", "--", "{build}/p"),
    )
    assert told.status == 0, told.err
    document = told.document()
    costs = {level["level"]: level["cost_s"] for level in document["levels"]}
    assert costs["build"] > 0
    assert costs["execution"] > 0
    assert document["top_level"] == "build"
    assert document["table"][0]["time_s"] is None or document["table"][0]["time_s"] > 0


def costly(user: User, program: str) -> dict:
    """Dimension with costs that make the counts whole numbers above 1 (no clock decides)."""
    costs = ("--cost", "execution=100s", "--cost", "iteration=1s")
    return dimension(user, program, *costs).document()


def test_the_counts_are_used_by_later_experiments(user: User, bench) -> None:
    program = bench()
    best = costly(user, program)["counts"]["iteration"]
    assert best > 12
    told = user.types(
        *("measure", "--dimensioned", *ITERATIONS, "--precision", "50%", "--json", "-"),
        *("--", program),
    )
    assert told.status == 0, told.err
    found = told.document()["variants"][0]["repetitions"]
    assert (found["iteration"], found["execution"] >= 5) == (best, True)
    shown = user.types("show", "latest", "--json", "-").document()["specification"]
    assert shown["stopping"]["minimum_blocks"] == 5
    assert "dimensioning-disagrees" not in codes(told)
    assert f"each of {best} x iteration" in told.err


# Builds vary, and executions of them: by their numbers, since of clocks' noise any count may come.
VARIED_BUILD = """
n=$(($(cat {home}/builds 2>/dev/null || echo 0) + 1)); echo $n > {home}/builds
echo $((1000 + n * 37 % 100)) > base
cp {home}/varied p
"""
VARIED_PROGRAM = """
n=$(($(cat {home}/executions 2>/dev/null || echo 0) + 1)); echo $n > {home}/executions
echo cost $(($(cat "${{0%/*}}/base") + n * 53 % 40))
"""


def test_builds_keep_the_best_number_of_executions(user: User, script: Script) -> None:
    script(VARIED_PROGRAM.format(home=user.home), "varied")
    build = ("--build", script(VARIED_BUILD.format(home=user.home), "make"))
    metric = ("--metric", r"cost=regex:cost (\d+):units")
    told = user.types(
        *("dimension", *build, *metric, "--repeat", "build=6", "--repeat", "execution=3"),
        *("--cost", "build=100s", "--cost", "execution=1s", "--json", "-", "--", "{build}/p"),
    )
    best = told.document()["counts"]["execution"]
    assert best > 1
    asked = ("--dimensioned", "--runs", "5", "--json", "-", "--", "{build}/p")
    told = user.types("measure", *build, *metric, *asked)
    assert told.status == 0, told.err
    assert told.document()["variants"][0]["repetitions"] == {
        **{"build": 5, "execution": best, "iteration": 1}
    }


def test_without_an_initial_experiment_it_is_refused_with_the_command_for_one(
    user: User, bench
) -> None:
    told = user.types("measure", "--dimensioned", *ITERATIONS, "--", bench())
    assert told.status == 2
    assert "Make it first: `steelyard dimension --iterations json-lines -- " in told.err
    assert user.types("list", "--json", "-").document()["experiments"] == []


@pytest.mark.parametrize(
    "options",
    [
        ("--env", "A=1 2", "--env", "LANG", "--env-padding", "64"),
        ("--directory", "/", "--stdin", "/dev/null"),
        ("--metric", "max_rss"),
        ("--metric", r"a=regex:(\d+) of them:units:higher"),
        ("--level", "restart=true"),
    ],
)
def test_the_command_that_is_told_makes_what_was_missing(user: User, script, options) -> None:
    program = script("echo $((100 + $$ % 17)) of them", "program")
    told = user.types("measure", "--dimensioned", *options, "--runs", "2", "--", program)
    (command,) = re.findall("Make it first: `steelyard (.*)`", told.err)
    counts = ("--repeat", "execution=6", "--cost", "execution=1s")
    if "--level" in options:
        counts += ("--repeat", "restart=2", "--cost", "restart=1s")
    first, *rest = shlex.split(command)
    assert user.types(first, *counts, *rest).status == 0
    told = user.types("measure", "--dimensioned", *options, "--runs", "2", "--", program)
    assert told.status == 0, told.err


def test_it_says_what_has_changed(user: User, bench) -> None:
    program = bench()
    costly(user, program)
    with open(program, "a", encoding="utf-8") as file:
        file.write("# changed\n")
    told = user.types("measure", "--dimensioned", *ITERATIONS, "--", program)
    assert told.status == 2
    assert "does not hold any more: the benchmark has changed (program)" in told.err


def stored_key(user: User, part: str, name: str, value: str) -> None:
    """Change what the store says of the machine or tools that were there."""
    connection = sqlite3.connect(next(user.home.rglob("*.sqlite")))
    (text,) = connection.execute("SELECT identity FROM dimensionings").fetchone()
    identity = json.loads(text)
    identity[part][name] = value
    connection.execute(
        f"UPDATE dimensionings SET identity = ?, {part} = 'other'", (json.dumps(identity),)
    )
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("part", "name", "message"),
    [
        ("platform", "cpu_model", "the machine has changed (cpu_model: Other 3000, now"),
        ("runtime", "interpreter", "the runtime has changed (interpreter)"),
    ],
)
def test_another_machine_or_runtime_is_named(
    user: User, bench, part: str, name: str, message: str
) -> None:
    program = bench()
    costly(user, program)
    stored_key(user, part, name, "Other 3000")
    told = user.types("measure", "--dimensioned", *ITERATIONS, "--", program)
    assert told.status == 2
    assert message in told.err


def test_a_comparison_takes_the_counts_of_its_baseline(user: User, bench) -> None:
    program = bench()
    best = costly(user, program)["counts"]["iteration"]
    told = user.types(
        *("compare", "--dimensioned", *ITERATIONS, "--runs", "5", "--json", "-"),
        *(program, f"{program} again"),
    )
    assert told.status == 0, told.err
    counts = [variant["repetitions"]["iteration"] for variant in told.document()["variants"]]
    assert counts == [best, best]


def test_each_baseline_of_a_comparison_must_have_its_own(user: User, bench) -> None:
    program = bench()
    costly(user, f"{program} 1")
    arguments = ("compare", "--dimensioned", *ITERATIONS, "--parameter", "a=1,2", "--runs", "2")
    told = user.types(*arguments, f"{program} {{a}}", f"{program} {{a}} again")
    assert told.status == 2
    assert f"`steelyard dimension --iterations json-lines -- {program} 2`" in told.err


def test_other_variances_than_the_initial_ones_are_told(user: User, bench) -> None:
    """The program reads its spread from a file that no key looks at."""
    spread = user.home / "spread"
    spread.write_text("1")
    program = bench()
    with open(program, encoding="utf-8") as file:
        text = file.read()
    with open(program, "w", encoding="utf-8") as file:
        file.write(text.replace("spread=1.0", f"spread=$(cat {spread})"))
    costly(user, program)
    spread.write_text("8")
    told = user.types(
        *("measure", "--dimensioned", *ITERATIONS, "--runs", "12", "--json", "-", "--", program)
    )
    assert "dimensioning-disagrees" in codes(told)


def test_dependent_iterations_are_told(user: User, script: Script) -> None:
    program = script(
        "awk 'BEGIN { srand(); for (i = 0; i < 30; i++) "
        'printf "{\\"value\\": %.6f}\\n", 1 + 0.01 * i + 0.001 * rand() }\''
    )
    told = dimension(user, program)
    assert "dependent-iterations" in codes(told)


def test_the_iterations_of_one_execution_are_no_initial_experiment(user: User, bench) -> None:
    program = bench()
    counts = ("--repeat", "execution=1", "--repeat", "iteration=12")
    told = user.types("dimension", *ITERATIONS, *counts, "--", program)
    assert "about this one execution alone" in told.out
    assert "`--dimensioned`" not in told.out
    told = user.types("measure", "--dimensioned", *ITERATIONS, "--", program)
    assert "No initial experiment" in told.err


def test_an_initial_experiment_without_any_value_says_why(user: User, script: Script) -> None:
    told = user.types("dimension", "--", script("echo no licence >&2; exit 3"))
    assert told.status == 3
    assert "exit code 3 (no licence)" in told.err


def test_values_that_are_none_fail_their_trials_and_the_others_are_answered(
    user: User, script: Script
) -> None:
    counter = user.home / "count"
    program = script(
        f"echo x >> {counter}; n=$(wc -l < {counter})\n"
        "if [ $((n % 4)) = 0 ]; then echo '{\"value\": NaN}'; exit; fi\n"
        'for i in $(seq $((2 + n % 3))); do echo "{\\"value\\": 1.$i$n}"; done'
    )
    told = user.types(
        *("dimension", *ITERATIONS, "--repeat", "execution=12", "--json", "-", "--", program)
    )
    assert told.status == 3
    document = told.document()
    assert document["levels"][0]["count"] == 9
    assert document["estimator"] == "anova-henderson-1"
    assert {"failed-trials", "unequal-counts"} <= set(codes(told))


def test_counts_from_the_store_do_not_go_with_counts_by_hand(user: User) -> None:
    told = user.types("measure", "--dimensioned", "--repeat", "execution=3", "--", "true")
    assert told.status == 2
    assert "does not go with --repeat" in told.err


def test_an_interrupted_initial_experiment_is_answered_and_resumed(user: User, bench) -> None:
    program = bench()
    counts = ("--repeat", "execution=12", "--repeat", "iteration=12")
    told = user.types("dimension", *ITERATIONS, *counts, "--initial-budget", "5runs", "--", program)
    assert told.status == 0, told.err
    assert "It ended early (budget). `steelyard resume" in told.out
    user.types("resume", "latest", "--runs", "12")
    document = user.types("dimension", "latest", "--json", "-").document()
    assert document["levels"][0]["count"] == 12


def test_an_interruption_before_the_first_value_says_how_to_go_on(
    user: User, script: Callable[[str], str]
) -> None:
    process = user.start("dimension", *ITERATIONS, "--", script("touch begun; exec sleep 1000"))
    while not (user.home / "begun").exists():
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 3
    assert b"was interrupted before" in told
    assert b"steelyard resume" in told


def test_all_kept_ones_are_shown_side_by_side_with_their_page(user: User, bench) -> None:
    assert user.types("dimension", "--kept").status == 2
    program = bench()
    first = costly(user, program)
    second = dimension(
        *(user, program, "--name", "again", "--env", "OTHER=1"),
        *("--cost", "execution=100s", "--cost", "iteration=1s"),
    ).document()
    told = user.types("dimension", "--kept", "--html", "page.html", "--json", "-")
    assert told.status == 0, told.err
    found = told.document()["dimensionings"]
    assert [item["variant"] for item in found] == sorted([first["variant"], second["variant"]])
    assert found[0]["counts"] == first["counts"]
    page = (user.home / "page.html").read_text()
    assert "How often to repeat 2 programs" in page
    assert "Suggested repetitions" in page
    assert "best counts" in page
    text = user.types("dimension", "--kept").out
    assert "iteration: variation, repeat" in text
    assert user.types("dimension", "--kept", "latest").status == 2


def test_a_page_shows_one_dimensioning(user: User, bench) -> None:
    assert dimension(user, bench(), "--html", "page.html").status == 0
    page = (user.home / "page.html").read_text()
    assert "Where the variation arises" in page
    assert "Suggested repetitions" not in page
