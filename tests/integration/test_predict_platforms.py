"""`steelyard predict platforms` as a user types it."""

import csv
import gzip

import numpy as np
import pytest

from tests.unit.predict.platforms.tables import low_rank_costs


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
