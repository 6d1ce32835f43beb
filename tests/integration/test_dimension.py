import csv
import random
from array import array
from dataclasses import replace

import pytest

from steelyard.core.stopping_spec import StoppingSpec
from steelyard.store.database import Store
from steelyard.store.level_table import read_level_table
from tests.experiments import failed_trial, make_experiment, make_trial

ITERATION_CODES = ("dependent-iterations", "warm-up-kept", "no-independent-state")
BUILDS, EXECUTIONS, ITERATIONS = 12, 6, 5


def write_table(path, missing=False):
    draw = random.Random(5).gauss
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["build", "execution", "iteration", "value", "cost_build_s"])
        for build in range(BUILDS):
            build_s = 10 + draw(0, 0.5)
            for execution in range(EXECUTIONS):
                execution_s = build_s + draw(0, 0.4)
                for iteration in range(ITERATIONS):
                    value = execution_s + draw(0, 0.3)
                    if not (missing and draw(0, 1) > 1):
                        writer.writerow([build, execution, iteration, repr(value), 90.0])


@pytest.fixture
def store(user):
    """A store with one experiment of builds, executions and iterations; and its identifier."""

    def make(trials, **changes):
        experiment = make_experiment(stopped="runs")
        spec = replace(
            experiment.spec,
            kind="measurement",
            variants=experiment.spec.variants[:1],
            stopping=StoppingSpec(runs=len(trials)),
            **changes,
        )
        path = user.home / "store.sqlite"
        Store(str(path)).save(replace(experiment, spec=spec, trials=tuple(trials)))
        return ["--store", str(path), spec.identifier]

    return make


def levelled_trials():
    draw = random.Random(6).gauss
    for position in range(BUILDS * EXECUTIONS):
        values = array("d", [1 + draw(0, 0.05) for _ in range(ITERATIONS)])
        yield make_trial(
            position,
            block=position,
            variant=0,
            build=position // EXECUTIONS,
            spent_s=sum(values) + 2.0,
            measurements={"wall_time": values},
        )


@pytest.mark.parametrize("missing", [False, True])
def test_a_table_is_dimensioned(user, missing):
    write_table(user.home / "times.csv", missing)
    told = user.types(
        *("dimension", "--import", "times.csv", "--cost", "execution=5s", "--budget", "1h"),
        *("--json", "-"),
    )
    assert told.status == 0, told.err
    document = told.document()
    levels = {level["level"]: level for level in document["levels"]}
    assert list(levels) == ["build", "execution", "iteration"]
    assert levels["build"]["cost_s"] == 90
    assert levels["execution"]["cost_s"] == 5
    assert levels["iteration"]["cost_s"] == pytest.approx(10, rel=0.05)
    assert document["top_level"] == "build"
    assert levels["build"]["optimal_count"] is None
    assert document["counts"] == {n: levels[n]["optimal_count"] for n in ("execution", "iteration")}
    assert [row["half_width_ratio"] for row in document["table"]] == [
        0.005, 0.01, 0.015, 0.025, 0.05,
    ]  # fmt: skip
    assert document["budget"]["top_level_count"] == int(3600 / document["top_level_time_s"])
    assert document["estimator"] == ("anova-henderson-1" if missing else "anova-balanced")


def test_the_text_shows_variations_counts_and_times(user):
    write_table(user.home / "times.csv")
    told = user.types("dimension", "--import", "times.csv", "--cost", "execution=5s")
    assert told.status == 0, told.err
    assert "1 min 30 s" in told.out
    assert "as the table says" in told.out
    assert told.out.count(" %") > 10


def test_a_stored_experiment_is_dimensioned_with_its_builds_and_costs(user, store):
    told = user.types(
        *("dimension", *store(list(levelled_trials())), "--cost", "build=1min", "--json", "-")
    )
    assert told.status == 0, told.err
    document = told.document()
    levels = {level["level"]: level for level in document["levels"]}
    counts = [levels[name]["count"] for name in ("build", "execution", "iteration")]
    assert counts == [BUILDS, EXECUTIONS, ITERATIONS]
    assert levels["execution"]["cost_s"] == pytest.approx(2.0)
    assert levels["iteration"]["cost_s"] == pytest.approx(1.0, rel=0.02)
    assert (document["metric"], document["variant"]) == ("wall_time", "old")


def test_failed_trials_are_left_out_and_the_good_ones_kept(user, store):
    trials = list(levelled_trials())
    for place in (3, 40):
        trials[place] = failed_trial(place, variant=0, build=trials[place].build)
    document = user.types("dimension", *store(trials), "--json", "-").document()
    assert document["measurement_count"] == (len(trials) - 2) * ITERATIONS
    assert "failed-trials" in [warning["code"] for warning in document["warnings"]]


def test_an_experiment_without_any_value_is_an_error(user, store):
    trials = [failed_trial(place, variant=0) for place in range(4)]
    told = user.types("dimension", *store(trials))
    assert told.status == 3
    assert "4 trials failed" in told.err


def test_executions_alone_are_one_level(user, store):
    trials = [replace(t, build=0, measurements={"wall_time": t.measurements["wall_time"][:1]})
              for t in levelled_trials()]  # fmt: skip
    document = user.types("dimension", *store(trials), "--json", "-").document()
    assert [level["level"] for level in document["levels"]] == ["execution"]
    assert document["top_level_time_s"] == document["levels"][0]["cost_s"] > 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "takes one initial experiment"),
        (("--", "no-such-program"), "There is no program 'no-such-program'"),
        (("latest", "--repeat", "execution=3"), "--repeat does not belong to a stored EXPERIMENT"),
        (("--parameter", "a=1,2", "--", "true", "{a}"), "takes one program, and here are 2"),
        (("latest", "--import", "times.csv"), "takes one initial experiment"),
        (("--import", "times.csv", "--cost", "5s"), "takes LEVEL=TIME"),
        (("--import", "times.csv", "--cost", "machine=5s"), "build, execution, iteration"),
        (("--import", "times.csv", "--variant", "old"), "--variant does not belong to --import"),
        (("latest", "--unit", "ms"), "it belongs to --import"),
        (("--import", "nowhere.csv"), "nowhere.csv cannot be read"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(user, arguments, message):
    write_table(user.home / "times.csv")
    told = user.types("dimension", *arguments)
    assert told.status == 2
    assert message in told.err
    assert told.out == ""


def test_a_name_that_the_experiment_has_not_lists_those_that_it_has(user):
    path = user.home / "store.sqlite"
    Store(str(path)).save(make_experiment())
    store = ["--store", str(path)]
    assert "'old', 'new'" in user.types("dimension", "latest", *store).err
    told = user.types("dimension", "latest", *store, "--variant", "old", "--metric", "speed")
    assert "wall_time, max_rss" in told.err


def write_iterations(path, means):
    """Ten executions whose iterations vary around `means`, in the order of the rows."""
    draw = random.Random(7).gauss
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["execution", "iteration", "value"])
        for execution in range(10):
            for iteration, mean in enumerate(means):
                writer.writerow([execution, iteration, mean + draw(0, 0.05)])


@pytest.mark.parametrize(
    ("means", "codes"),
    [
        ([1.0] * 40, []),
        ([3.0, 2.0, 1.5, *[1.0] * 37], ["warm-up-kept"]),
        ([1 + n / 20 for n in range(40)], ["dependent-iterations", "no-independent-state"]),
    ],
)
def test_the_iterations_of_a_table_are_looked_at_as_those_of_an_experiment(user, means, codes):
    write_iterations(user.home / "t.csv", means)
    told = user.types("dimension", "--import", "t.csv", "--cost", "execution=1s", "--json", "-")
    found = [caution["code"] for caution in told.document()["warnings"]]
    assert [code for code in found if code in ITERATION_CODES] == codes


def test_the_iterations_of_a_table_stand_in_the_order_of_its_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("execution,iteration,value\na,2,1\na,1,2\nb,1,3\na,0,\nb,2,4\nb,0,5\n")
    series = read_level_table(str(path), times=True).series
    assert [one.tolist() for one in series] == [[1, 2], [3, 4, 5]]
