"""`steelyard predict commits` as a user types it."""

import csv
import json

import numpy as np
import pytest

HEADER = ("benchmark", "known", "unknown", "distance", "cost_s", "changed", "rank", "new")


@pytest.fixture
def pairs(tmp_path):
    """A history of 120 commits and 3 benchmarks, which change where `rank` is high."""
    rng = np.random.default_rng(7)
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for commit in range(120):
            for benchmark in ("add", "diff", "clone"):
                rank = round(rng.uniform(0, 100), 2) if rng.random() < 0.3 else 0
                verdict = "slower" if rank > 70 else "equivalent"
                row = (benchmark, f"r{commit}", f"r{commit + 1}", 1, 2.5, verdict, rank)
                writer.writerow((*row, rng.integers(0, 4) if rank else 0))
    return path


def document(user, *arguments):
    told = user.types("predict", "commits", *arguments, "--json", "-")
    assert told.status == 0, told.err
    return told.document()


def test_what_was_learnt_answers_new_pairs_with_a_reason_and_a_gate(user, pairs, tmp_path):
    kept = tmp_path / "predictor.json"
    learnt = document(user, "learn", str(pairs), "--output", str(kept))
    assert learnt["kind"] == "commit-predictor"
    assert len(learnt["rows"]) == 360
    asked = tmp_path / "new.csv"
    asked.write_text(
        "benchmark,known,unknown,changed,rank,new\nadd,r120,r121,,99,1\ndiff,r120,r121,,0,0\n"
    )
    found = document(user, "ask", str(kept), "--pairs", str(asked))
    assert found["kind"] == "commit-prediction"
    assert [one["run"] for one in found["benchmarks"]] == [True, False]
    assert found["benchmarks"][0]["probability"]["estimate"] > 0.5
    assert "rank is 99" in found["benchmarks"][0]["reasons"][0]
    page = tmp_path / "page.html"
    gated = user.types(
        "predict", "commits", "ask", str(kept), "--pairs", str(asked), "--fail-if-run",
        "--html", str(page),
    )  # fmt: skip
    assert gated.status == 1
    assert gated.out.startswith("1 of 2 benchmarks need to run")
    assert "1 of 2 benchmarks need to run" in page.read_text()


def test_of_several_revisions_the_answer_counts_runs_and_not_benchmarks(user, pairs, tmp_path):
    kept = tmp_path / "predictor.json"
    document(user, "learn", str(pairs), "--output", str(kept))
    asked = tmp_path / "new.csv"
    rows = ("add,r120,r121,,99,1", "add,r121,r122,,0,0", "diff,r120,r121,,0,0")
    asked.write_text("\n".join(("benchmark,known,unknown,changed,rank,new", *rows, "")))
    told = user.types("predict", "commits", "ask", str(kept), "--pairs", str(asked))
    assert told.out.startswith("1 of 3 runs are needed: 2 benchmarks, 2 revisions")


def test_an_evaluation_has_every_design_and_a_page(user, pairs, tmp_path):
    page = tmp_path / "page.html"
    found = document(user, "evaluate", str(pairs), "--folds", "3", "--html", str(page))
    assert found["kind"] == "commit-evaluation"
    assert found["design"] == "chronological"
    assert found["hit_rate"]["estimate"] >= 0.9
    # Too few changes are learnt for a cutoff: seven tenths of the pairs have no difference.
    assert found["dismiss_rate"]["estimate"] >= 0.65
    designs = {score["design"] for score in found["scores"]}
    assert {"all-learnt", "folds-by-benchmark", "folds", "learnt-size"} <= designs
    assert "chronological" in page.read_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("benchmark,unknown,changed,rank\na,r1,no,1\nb,r1,no,2\n", "always say no"),
        ("benchmark,unknown,changed,rank\na,r1,perhaps,1\n", "'perhaps'"),
        ("benchmark,unknown,changed,rank\na,r1,yes,-1\nb,r1,no,2\n", "is no indicator"),
        ("benchmark,changed,rank\na,yes,1\n", "no column 'unknown'"),
        ("benchmark,unknown,changed\na,r1,yes\nb,r1,no\n", "no column of an indicator"),
    ],
)
def test_a_table_that_says_nothing_is_refused_in_one_sentence(user, tmp_path, content, words):
    path = tmp_path / "pairs.csv"
    path.write_text(content)
    told = user.types("predict", "commits", "learn", str(path), "--output", "p.json")
    assert told.status == 2
    assert words in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize("content", ["", "{}", '{"kind": "commit-predictor", "rows": 3}', "[1]"])
def test_a_file_that_is_no_predictor_is_named(user, pairs, tmp_path, content):
    path = tmp_path / "predictor.json"
    path.write_text(content)
    told = user.types("predict", "commits", "ask", str(path), "--pairs", str(pairs))
    assert told.status == 2
    assert "is no predictor" in told.err


def test_a_plan_keeps_its_budget_and_writes_weights_of_revisions(user, pairs, tmp_path):
    kept, weights = tmp_path / "predictor.json", tmp_path / "weights.json"
    assert user.types("predict", "commits", "learn", str(pairs), "--output", str(kept)).status == 0
    found = document(
        user, "plan", str(kept), "--pairs", str(pairs), "--budget", "20s", "--weights",
        str(weights), "--weights-of", "add",
    )  # fmt: skip
    assert found["kind"] == "commit-plan"
    assert 0 < found["cost_s"] <= 20
    assert sum(one["run"] for one in found["benchmarks"]) == 8
    assert sum(len(one["revisions"]) for one in found["batches"]) == 360
    written = json.loads(weights.read_text())
    assert len(written) == 120
    assert all(0 <= weight <= 1 for weight in written.values())
    told = user.types("predict", "commits", "plan", str(kept), "--pairs", str(pairs))
    assert "changes are expected to be missed" in told.out
    wrong = user.types(
        "predict", "commits", "plan", str(kept), "--pairs", str(pairs), "--weights",
        str(weights), "--weights-of", "none",
    )  # fmt: skip
    assert wrong.status == 2
    assert "Asked: add, diff, clone" in wrong.err
