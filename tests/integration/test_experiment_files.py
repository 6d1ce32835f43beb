"""Experiments that a file describes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import User
from tests.integration.killing import kill_while_waiting, waiting_in

PROGRAM = """
import os, sys
n = int(sys.argv[1])
print(n * (2 if "SLOW" in os.environ else 1) + 0.001 * len(os.environ.get("STEELYARD_PADDING", "")))
"""
FILE = """
[experiment]
name = "what the input does"
seed = 4
runs = 5
metrics = ["units=regex:([0-9.]+):units"]

[[benchmark]]
name = "count"
command = "python3 count.py {input}"
expected_s = 0.05

[[factor]]
name = "n"
factor = "input"
levels = [100, 200]

[[factor]]
factor = "aslr"
levels = [true, false]

[[nuisance]]
factor = "environment-size"
maximum = 1000
"""


@pytest.fixture
def file(user: User) -> Path:
    (user.home / "count.py").write_text(PROGRAM)
    path = user.home / "e.toml"
    path.write_text(FILE)
    return path


def test_a_plan_says_what_will_run_before_anything_does(user: User, file: Path) -> None:
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert (document["trials"], document["blocks"]) == (20, 5)
    assert document["factors"] == [
        {"name": "n", "levels": ["100", "200"]},
        {"name": "aslr", "levels": ["on", "off"]},
    ]
    assert document["estimated_s"] == pytest.approx(1.0)
    assert [item["name"] for item in document["nuisance"]] == ["environment-size"]
    assert "randomised environment-size" in user.types("experiment", "plan", "e.toml").out


def test_a_plan_takes_no_longer_than_its_budget(user: User, file: Path) -> None:
    file.write_text(FILE.replace("runs = 5", 'runs = 5\nbudget = "500ms"'))
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert document["estimated_s"] == 0.5


def test_a_dry_run_prints_the_commands_and_runs_none(user: User, file: Path) -> None:
    told = user.types("experiment", "run", "e.toml", "--dry-run")
    assert told.out.splitlines()[0] == "count (n=100, aslr=on): python3 count.py 100"
    assert len(told.out.splitlines()) == 4
    assert user.types("list").out.startswith("The store holds no experiment")


def test_an_experiment_is_run_and_its_effects_are_found(user: User, file: Path) -> None:
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 0, told.err
    document = user.types("experiment", "analyze", "--json", "-").document()
    assert document["unit"] == "units"
    effects = {item["term"]: item["effect"] for item in document["effects"]}
    # Coded -1 and +1: half of what the input does; the padding adds up to 1 unit of noise.
    assert effects["n"]["low"] < 50 < effects["n"]["high"]
    assert effects["n"]["high"] - effects["n"]["low"] < 2
    assert effects["aslr"]["low"] < 0 < effects["aslr"]["high"]


def test_setups_are_columns_that_explain_what_they_did(user: User, file: Path) -> None:
    assert user.types("experiment", "run", "e.toml").status == 0
    told = user.types("analyze", "latest", "--method", "anova", "--response", "units",
                      "--factors", "environment-size", "--json", "-")  # fmt: skip
    assert told.status == 0, told.err


def test_a_killed_experiment_resumes_with_the_setups_that_it_had(
    user: User, file: Path, script: Callable[[str, str], str]
) -> None:
    file.write_text(FILE.replace("python3 count.py", "./waits").replace("runs = 5", "runs = 400"))
    script(waiting_in(7) + 'exec python3 count.py "$1"', "waits")
    process = user.start("experiment", "run", "e.toml")
    kill_while_waiting(user, process)
    listed = user.types("show", "latest", "--json", "-").document()
    spec = listed["specification"]
    assert spec["nuisance"][0]["factor"] == "environment-size"
    resumed = user.types("resume", "latest", "--runs", "5", "--json", "-")
    assert resumed.status == 0, resumed.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('factor = "aslr"', 'factr = "aslr"'), "line 19: factor[1].factr: there is no such field"),
        (('factor = "aslr"', 'factor = "moon"'), "There is no factor called 'moon'. Known: "),
        (("[true, false]", "[true]"), "line 20: factor[1].levels: a factor needs at least two"),
        (("[true, false]", '["on", "no"]'), "line 20: factor[1].levels: the factor aslr has no"),
        (("maximum = 1000", "most = 5"), "has no option 'most'; known: minimum, maximum, step"),
        (
            ("maximum = 1000", "minimum = 9\nmaximum = 5"),
            "with minimum = 9, maximum = 5; it takes a",
        ),
        (("maximum = 1000", "maximum = 9\nlevels = [1]"), "draws from `levels` or by its options"),
        (("maximum = 1000", "step = 0"), "with step = 0; it takes a minimum up to the maximum"),
        (("maximum = 1000", "maximum = 2000000"), "it takes a whole number from 0 to 1048576"),
        (("maximum = 1000", "minimum = -1"), "it takes a whole number from 0 to 1048576"),
        (
            (
                "[[benchmark]]",
                "[[benchmark]]\nname = 'count'\ncommand = 'true {input}'\n[[benchmark]]",
            ),
            "two benchmarks are called 'count'",
        ),
        (("runs = 5", 'runs = "many"'), "experiment.runs: it takes a whole number from 1 on"),
        (("runs = 5", "runs = 5\nrun = 6"), "line 6: experiment.run: there is no such field"),
        (("[experiment]", "[experiment"), "is not TOML"),
        (("[[benchmark]]", "[benchmark]"), "write [[benchmark]] above each"),
        (
            ('"environment-size"\nmaximum = 1000', '"link-order"'),
            "The factor link-order changes how count (n=100, aslr=on",
        ),
        (("{input}", "100"), "The factor input has no place in count"),
    ],
)
def test_a_wrong_file_is_one_clear_error_with_its_line(
    user: User, file: Path, change: tuple[str, str], message: str
) -> None:
    file.write_text(FILE.replace(*change))
    told = user.types("experiment", "plan", "e.toml", "--json", "-")
    assert told.status == 2
    assert message in told.err
    assert told.err.count("\n") == 1
    assert json.loads(told.out)["kind"] == "error"


def test_constraints_leave_combinations_out(user: User, file: Path) -> None:
    file.write_text(FILE + "\n[[constraint]]\nwhen = {n = 200}\nforbid = {aslr = false}\n")
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert document["trials"] == 15
    assert document["skipped"] == ["n=200, aslr=off"]


def test_a_fraction_tells_what_it_mixes_up(user: User, file: Path) -> None:
    file.write_text(
        FILE
        + '\n[[factor]]\nfactor = "nice"\nlevels = [0, 5]\n'
        + '[design]\nkind = "fractional-factorial"\ngenerators = ["nice = n:aslr"]\n'
    )
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert (document["trials"], document["design"]["resolution"]) == (20, 3)
    effects = {item["effect"]: item["others"] for item in document["design"]["aliases"]}
    assert effects["nice"] == ["n:aslr"]
    assert "aliased    nice with + n:aslr" in user.types("experiment", "plan", "e.toml").out


def test_a_d_optimal_design_keeps_the_constraints_and_says_what_it_tells(
    user: User, file: Path
) -> None:
    file.write_text(
        FILE
        + '\n[[factor]]\nfactor = "nice"\nlevels = [0, 5, 10]\n'
        + "[[constraint]]\nwhen = {nice = 10}\nforbid = {n = 200}\n"
        + '[design]\nkind = "d-optimal"\npoints = 7\n'
    )
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    assert len(document["combinations"]) == 7
    assert not any("n=200" in c and "nice=10" in c for c in document["combinations"])
    assert 0.5 < document["design"]["efficiency_ratio"] <= 1
    assert "7 combinations for main effects" in user.types("experiment", "plan", "e.toml").out
    file.write_text(file.read_text().replace("points = 7", "points = 70"))
    told = user.types("experiment", "plan", "e.toml")
    assert told.status == 2
    assert "design of 70 points" in told.err


def test_the_first_level_of_the_file_is_the_baseline(user: User, file: Path) -> None:
    """Not the first in natural order, nor the first that a design comes to."""
    file.write_text(
        FILE.replace("[100, 200]", "[200, 100]").replace("runs = 5", "runs = 2")
        + '[design]\nkind = "plackett-burman"\n'
    )
    assert user.types("experiment", "run", "e.toml").status == 0
    told = user.types(
        "experiment", "analyze", "--option", "coding=treatment", "--option", "interactions=1",
        "--json", "-",
    )  # fmt: skip
    effects = {item["term"]: item["effect"]["estimate"] for item in told.document()["effects"]}
    assert effects["n[100]"] == pytest.approx(-100, abs=1)


def test_the_number_of_runs_follows_from_the_power_that_is_wanted(user: User, file: Path) -> None:
    power = '{effect = "n", change = "1%", variation = "2%", probability = "90%"}'
    file.write_text(FILE.replace("runs = 5", f"power = {power}"))
    document = user.types("experiment", "plan", "e.toml", "--json", "-").document()
    # Of 4 points N trials: R's power.t.test(delta = 1, sd = 2, power = 0.9) gives 85.03 a level.
    assert document["blocks"] == 43
    assert document["power"]["effect"] == "n"
    assert 0.9 <= document["power"]["power"] < 0.92
    told = user.types("experiment", "plan", "e.toml").out
    assert (
        "power      43 runs find a change of 1% between levels of n in 90% of experiments" in told
    )


def test_an_experiment_runs_until_the_effect_that_it_names_is_precise(
    user: User, file: Path
) -> None:
    file.write_text(FILE.replace("runs = 5", 'precision = "0.5%"\neffect = "n"\nbudget = "80runs"'))
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 0, told.err
    assert told.document()["stopped"] == "precision"
    answer = user.types("experiment", "analyze", "--json", "-").document()
    (ratio,) = (item for item in answer["effects"] if item["term"] == "n: 200 / 100")
    # The padding adds 0 to 1 at both levels, by the seed: half a unit in the mean.
    assert ratio["effect"]["low"] < 200.5 / 100.5 < ratio["effect"]["high"]
    assert (ratio["effect"]["high"] - ratio["effect"]["low"]) / 2 <= 0.005
    assert "stopped-by-effect" in {item["code"] for item in answer["warnings"]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('runs = 5\nprecision = "1%"', "Give either runs or precision"),
        ('runs = 5\neffect = "n"', "give it with precision"),
        ('precision = "1%"\neffect = "moon"', "names 'moon', which is no factor. Factors: n, aslr"),
        ('power = {change = "1%"}', "experiment.power.variation: it is missing"),
        (
            'power = {change = "1%", variation = "1%", effect = "moon"}',
            "'moon', which is no factor",
        ),
        ('power = {change = "1%", variation = "much"}', "experiment.power.variation takes a share"),
    ],
)
def test_a_wrong_way_to_repeat_is_told_in_one_line(
    user: User, file: Path, given: str, message: str
) -> None:
    file.write_text(FILE.replace("runs = 5", given))
    told = user.types("experiment", "plan", "e.toml")
    assert told.status == 2
    assert message in told.err
    assert told.err.count("\n") == 1


SCREENING = """
[experiment]
name = "which of seven matter?"
seed = 3
runs = 1
metrics = ["units=regex:([0-9.]+):units"]

[[benchmark]]
name = "sum"
command = "python3 @HOME@/sum.py"

[analysis]
method = "screening"

[design]
kind = "plackett-burman"
"""


def test_a_screening_proposes_factors_and_writes_the_experiment_that_follows(user: User) -> None:
    # Noise that is the same each time: of random one some 5 % of screenings propose a third factor.
    (user.home / "sum.py").write_text(
        "import os, random\n"
        f"with open({str(user.home / 'runs')!r}, 'a+') as file:\n"
        "    noise = random.Random(file.tell()).gauss(0, 0.1)\n"
        "    file.write('.')\n"
        "size = len(os.environ.get('STEELYARD_PADDING', ''))\n"
        "moved = os.path.basename(os.getcwd()) == 'other'\n"
        "print(100 + (10 if size > 500 else 0) + 15 * moved + noise)\n"
    )
    (user.home / "other").mkdir()
    factors = {
        "environment-size": "[0, 1000]", "aslr": '["on", "off"]', "stack-start": "[0, 64]",
        "working-directory": f'["{user.home}", "{user.home}/other"]', "warm-up-runs": "[0, 1]",
    }  # fmt: skip
    text = SCREENING.replace("@HOME@", str(user.home)) + "".join(
        f'[[factor]]\nfactor = "{name}"\nlevels = {levels}\n' for name, levels in factors.items()
    )
    (user.home / "s.toml").write_text(text)
    assert user.types("experiment", "run", "s.toml").status == 0
    told = user.types("experiment", "analyze", "--file", "s.toml", "--follow-up", "next.toml")
    assert told.status == 0, told.err
    assert "For a full design: environment-size, working-directory." in told.out
    plan = user.types("experiment", "plan", "next.toml", "--json", "-").document()
    assert [item["name"] for item in plan["factors"]] == ["environment-size", "working-directory"]
    assert plan["trials"] == 4
    held = {item["name"]: item["levels"] for item in plan["nuisance"]}
    assert held == {"aslr": ["on"], "stack-start": ["0"], "warm-up-runs": ["0"]}
    wrong = user.types("experiment", "analyze", "--method", "anova", "--follow-up", "n.toml")
    assert wrong.status == 2
    assert "--follow-up goes with --method screening." in wrong.err


def test_iterations_are_rows_where_the_file_says_so(user: User) -> None:
    (user.home / "p.py").write_text(
        "import json, os, sys\n"
        "with open(os.environ['STEELYARD_ITERATIONS'], 'w') as out:\n"
        "    for value in (1, 2, 9):\n"
        "        print(json.dumps({'value': value * float(sys.argv[1])}), file=out)\n"
    )
    (user.home / "e.toml").write_text("""
[experiment]
runs = 4
iterations = "json-lines"
metrics = ["iteration_time"]
[[benchmark]]
name = "p"
command = "python3 p.py {input}"
[[factor]]
factor = "input"
levels = [1, 2]
[analysis]
method = "quantile"
quantiles = [0.5]
rows = "iterations"
options = {cluster = "execution"}
""")
    told = user.types("experiment", "run", "e.toml")
    assert told.status == 0, told.err
    told = user.types("experiment", "analyze", "--file", "e.toml", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    assert document["count"] == 24
    # The medians are 2 and 4: half of the change. Of means of trials it would be 2.
    (effect,) = (item for item in document["effects"] if item["term"] == "input")
    assert effect["effect"]["estimate"] == pytest.approx(1.0)
    told = user.types(
        "experiment", "analyze", "--file", "e.toml", "--plots", "plots", "--quantiles", "0.3,0.6"
    )
    assert told.status == 0, told.err
    assert list((user.home / "plots").glob("*.png"))
    # The options of the file are of its own method.
    told = user.types("experiment", "analyze", "--file", "e.toml", "--method", "anova")
    assert told.status == 0, told.err


def test_every_benchmark_is_set_up_once_where_its_program_runs(user: User) -> None:
    for name in ("one", "two"):
        (user.home / name).mkdir()
    (user.home / "e.toml").write_text("""
[experiment]
runs = 2
[[benchmark]]
name = "first"
command = "true"
directory = "one"
environment = {WORD = "one"}
[[benchmark]]
name = "second"
command = "./made"
directory = "two"
environment = {WORD = "two"}
setup = "sh -c 'cp /bin/true made; echo $WORD >> said'"
[[factor]]
factor = "nice"
levels = [0, 1]
""")
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 0, told.err
    assert (user.home / "two" / "said").read_text() == "two\n"


def test_an_allocator_that_is_not_there_is_refused_and_not_measured_as_the_one_of_libc(
    user: User, file: Path
) -> None:
    levels = 'factor = "allocator"\nlevels = ["libc", "/nowhere/libother.so"]'
    file.write_text(FILE.replace('factor = "aslr"\nlevels = [true, false]', levels))
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 2
    assert "There is no library '/nowhere/libother.so' to preload" in told.err


def test_the_schema_of_files_is_printed(user: User) -> None:
    told = user.types("experiment", "schema")
    assert told.status == 0
    assert json.loads(told.out)["title"] == "An experiment file (TOML)"
