"""`steelyard predict platforms` as a user types it."""

import csv
import gzip
import re
from dataclasses import replace

import numpy as np
import pytest

from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.store.database import Store
from tests.experiments import METRICS, make_experiment, make_trial
from tests.unit.predict.platforms.made_tables import low_rank_costs


@pytest.fixture
def times(tmp_path):
    """A table of 12 hosts and 14 benchmarks, one row a measurement."""
    costs = low_rank_costs(12, 14)
    path = tmp_path / "times.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["host", "benchmark", "value", "price"])
        for h in range(12):
            for b in range(14):
                if (h, b) not in {(3, 0), (5, 0), (11, 4), (11, 0)}:
                    writer.writerow([f"host{h}", f"b{b}", float(np.exp(costs[h, b])), 1 + h])
    return path


def document(user, *arguments):
    told = user.types("predict", "platforms", *arguments, "--json", "-")
    assert told.status == 0, told.err
    return told.document()


def test_each_question_answers_with_its_document(user, times):
    application = ("--application", "b0")
    asked = document(user, "ask", str(times), *application)
    assert asked["kind"] == "platform-prediction"
    assert [host["host"] for host in asked["hosts"]] == [f"host{h}" for h in range(12)]
    assert asked["hosts"][3]["measured"] is None
    fitted = document(user, "fit", str(times), *application, "--model", "ridge")
    assert [model["model"] for model in fitted["models"]] == ["ridge"]
    chosen = document(user, "choose", str(times), *application, "--by-price", "price")
    assert chosen["chosen"] == chosen["candidates"][0]["host"]
    following = document(user, "next", str(times), *application)
    assert {one["host"] for one in following["hosts"]} == {"host3", "host5", "host11"}
    assert {one["benchmark"] for one in following["benchmarks"]} == {"b4"}
    assert len(document(user, "suite", str(times))["benchmarks"]) == 14


def test_an_evaluation_has_a_strategy_for_each_model_and_a_page(user, times, tmp_path):
    page = tmp_path / "page.html"
    models = ("--model", "stacking", "--model", "mallows-cp", "--model", "clusters")
    found = document(
        user, "evaluate", str(times), *models, "--known-hosts", "5,8", "--subsets", "2",
        "--representatives", "b1,b2", "--html", str(page),
    )  # fmt: skip
    assert [one["strategy"] for one in found["strategies"]] == [
        "stacking",
        "mallows-cp",
        "clusters",
    ]
    assert [one["known_hosts"] for one in found["by_known_hosts"]] == [5, 5, 5, 8, 8, 8]
    text = page.read_text()
    assert "Error against share answered" in text
    assert "src=" not in text.split("<script")[0]


def test_a_table_by_host_that_gzip_compressed_is_read_with_throughputs(user, tmp_path):
    costs = low_rank_costs(11, 12)
    path = tmp_path / "wide.csv.gz"
    names = [f"b{b}" for b in range(11)] + ["rate"]
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["machine", "isa", "replicate", *names])
        for h in range(11):
            for r in range(2):
                values = np.exp(costs[h] * np.where(np.arange(12) == 11, -1, 1) + r * 0.001)
                writer.writerow([f"m{h}", "x86-64", r, *values])
    given = ("--application", "rate", "--higher", "rate", "--host-column", "machine")
    found = document(user, "ask", str(path), *given)
    assert len(found["hosts"]) == 11
    assert not all(host["refused"] for host in found["hosts"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello\nworld\n", "has no column 'host'"),
        ('{"a": 1}\n', "is JSON"),
        ("", "is empty"),
        ("host,benchmark,value\na,x,1\na,y,-2\nb,x,2\nb,y,3\n", "y on a is -2, not above 0"),
        ("host,benchmark,value\na,x,1\na,y,1\nb,x,2\nb,y,3\na,x,1\n", "a has x twice"),
        ("host,x,y\na,1,2\nb,2,x3\nc,3,4\nd,4,5\n", "'x3' is no number"),
        ("host,benchmark,other\na,x,1\n", "has no column 'value'"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_clear_error(user, tmp_path, text, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    told = user.types("predict", "platforms", "ask", str(path), "--application", "x")
    assert told.status == 2
    assert said in told.err
    assert "Traceback" not in told.err
    assert told.out == ""


def test_an_unknown_application_lists_the_known_ones(user, times):
    told = user.types("predict", "platforms", "ask", str(times), "--application", "nosuch")
    assert told.status == 2
    assert "b0, b1" in told.err


@pytest.fixture
def store(tmp_path):
    """A store with experiments of 12 hosts, each with 14 programs in two trials."""
    costs = low_rank_costs(12, 14)
    costs[3, 0] = np.nan
    path = str(tmp_path / "all.sqlite")
    kept = Store(path)
    for h in range(12):
        kept.save(suite_experiment(h, {f"b{b}": costs[h, b] for b in range(14)}))
    return path


def suite_experiment(number, costs, **host):
    """An experiment of one host with a variant for each program, of which some failed."""
    programs = tuple(costs)
    trials = []
    for turn, sign in enumerate((-1, 1)):
        for variant, name in enumerate(programs):
            position = turn * len(programs) + variant
            trial = make_trial(position)
            value = float(np.exp(costs[name])) * (1 + 0.001 * sign)
            is_known = np.isfinite(costs[name])
            trials.append(
                replace(
                    trial,
                    variant=variant,
                    block=turn,
                    status="ok" if is_known else "failed",
                    reason=None if is_known else "exit",
                    measurements={"wall_time": (value,)} if is_known else {},
                )
            )
    experiment = make_experiment(number + 1)
    spec = replace(
        experiment.spec,
        kind="measurement",
        variants=tuple(Variant(name, LaunchSpec((f"./{name}",))) for name in programs),
        metrics=METRICS[:1],
    )
    facts = {"hostname": f"host{number}", "machine": "x86_64", "cpu_model": "A", **host}
    return replace(experiment, spec=spec, trials=tuple(trials), provenance={"host": facts})


def test_a_store_of_experiments_of_several_hosts_is_a_table(user, store):
    asked = document(user, "ask", store, "--application", "b0")
    hosts = {host["host"]: host for host in asked["hosts"]}
    assert set(hosts) == {f"host{h}" for h in range(12)}
    assert hosts["host3"]["measured"] is None
    assert hosts["host3"]["value"]["estimate"] > 0
    assert len(document(user, "suite", store)["benchmarks"]) == 14


def test_hosts_of_one_name_are_told_apart_by_what_they_are(user, store):
    costs = {f"b{b}": 1.0 + b for b in range(14)}
    Store(store).save(suite_experiment(40, costs, hostname="host0", cpu_model="B"))
    asked = document(user, "ask", store, "--application", "b0")
    names = {host["host"] for host in asked["hosts"]}
    assert {"host0/A", "host0/B", "host1"} <= names


def test_a_host_of_another_architecture_in_a_store_is_refused(user, store):
    costs = {f"b{b}": 1.0 + b for b in range(1, 14)}
    Store(store).save(suite_experiment(41, costs, machine="aarch64"))
    asked = document(user, "ask", store, "--application", "b0")
    (host,) = [host for host in asked["hosts"] if host["host"] == "host41"]
    assert host["reason"].startswith("new-architecture")


def test_an_experiment_without_a_host_is_told_of_and_left_out(user, store):
    costs = {f"b{b}": 1.0 + b for b in range(14)}
    Store(store).save(replace(suite_experiment(42, costs), provenance={}))
    asked = document(user, "ask", store, "--application", "b0")
    assert len(asked["hosts"]) == 12
    assert "unknown-host" in {warning["code"] for warning in asked["warnings"]}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--metric", "none"), "no metric 'none'|with the metric 'none'"),
        (("--host-column", "name"), "--host-column goes with a CSV file"),
        (("--variant", "name"), "--variant goes with a CSV file"),
    ],
)
def test_options_that_a_store_has_no_use_for_are_refused(user, store, options, wanted):
    told = user.types("predict", "platforms", "ask", store, "--application", "b0", *options)
    assert told.status == 2
    assert re.search(wanted, told.err)


def test_a_store_without_times_and_a_metric_of_a_file_are_refused(user, times, tmp_path):
    empty = str(tmp_path / "empty.sqlite")
    Store(empty).save(replace(make_experiment(1), trials=()))
    told = user.types("predict", "platforms", "ask", empty, "--application", "b0")
    assert told.status == 2
    assert "no times of benchmarks on hosts" in told.err
    told = user.types(
        "predict", "platforms", "ask", str(times), "--application", "b0", "--metric", "wall_time"
    )
    assert told.status == 2
    assert "--metric wall_time goes with a store" in told.err
