"""What is run within a budget, and which commits are run together."""

import random
from itertools import pairwise

import pytest

from steelyard.core.estimate import Estimate
from steelyard.predict.commits.commit_answers import BenchmarkAnswer, CommitAnswer
from steelyard.predict.commits.planning import (
    MOST_IN_BATCH,
    batch_cost,
    plan_runs,
    revision_weights,
)


def answer(*rows):
    """Rows of (benchmark, revision, probability, run, seconds, quiet)."""
    return CommitAnswer(
        tuple(
            BenchmarkAnswer(name, "", revision, Estimate(p, p, p, 0.95, "m"), run, ("r",), cost, q)
            for name, revision, p, run, cost, q in rows
        ),
        None,
        (),
    )


ROWS = (
    ("a", "r1", 0.9, True, 30.0, False),
    ("b", "r1", 0.6, True, 1.0, False),
    ("c", "r1", 0.1, False, 2.0, False),
    ("d", "r1", 0.001, False, 0.1, True),
)


def test_without_a_budget_all_is_run_that_reaches_the_cutoff():
    plan = plan_runs(answer(*ROWS))
    assert {one.answer.benchmark for one in plan.runs if one.run} == {"a", "b"}
    assert plan.cost_s == 31
    assert plan.regret == pytest.approx(0.101)


def test_a_budget_goes_to_the_most_regret_for_its_cost_and_never_to_what_did_not_differ():
    plan = plan_runs(answer(*ROWS), 10.0)
    assert {one.answer.benchmark for one in plan.runs if one.run} == {"b", "c"}
    assert plan.cost_s <= 10


def test_batches_hold_every_revision_once_and_cost_no_more_than_single_runs():
    probabilities = [0.02, 0.9, 0.01, 0.01, 0.01, 0.8, 0.0]
    rows = [("a", f"r{at}", p, p > 0.5, 2.0, False) for at, p in enumerate(probabilities)]
    plan = plan_runs(answer(*rows))
    revisions = [name for batch in plan.batches for name in batch.revisions]
    assert revisions == [f"r{at}" for at in range(7)]
    assert sum(batch.cost_s for batch in plan.batches) < 2.0 * 7


def test_revisions_that_all_change_are_run_one_by_one():
    rows = [("a", f"r{at}", 0.999, True, 2.0, False) for at in range(6)]
    sizes = [len(batch.revisions) for batch in plan_runs(answer(*rows)).batches]
    assert max(sizes) <= 2


def test_a_batch_costs_more_the_more_probably_it_changed():
    costs = [batch_cost(p / 10, 8, 3.0) for p in range(11)]
    assert costs[0] == 3.0
    assert costs[-1] == 3.0 * (1 + 3)
    assert batch_cost(7.9, 8, 3.0) == 3.0 * 8
    assert all(one < other for one, other in pairwise(costs))


def test_weights_are_of_one_benchmark_or_of_any():
    rows = answer(
        ("a", "r1", 0.5, True, 1.0, False), ("b", "r1", 0.5, True, 1.0, False),
        ("a", "r2", 0.1, True, 1.0, False),
    )  # fmt: skip
    assert revision_weights(rows) == {"r1": pytest.approx(0.75), "r2": pytest.approx(0.1)}
    assert revision_weights(rows, "a") == {"r1": pytest.approx(0.5), "r2": pytest.approx(0.1)}


def test_a_division_of_thousands_of_revisions_has_batches_of_a_bounded_size():
    count = 2 * MOST_IN_BATCH + 10
    rows = [("a", f"r{place}", 1e-6, True, 1.0, False) for place in range(count)]
    batches = plan_runs(answer(*rows)).batches
    assert [name for batch in batches for name in batch.revisions] == [row[1] for row in rows]
    assert max(len(batch.revisions) for batch in batches) == MOST_IN_BATCH


def test_no_division_costs_less_than_the_batches_that_are_chosen():
    draw = random.Random(5)
    for _ in range(20):
        rows = [
            ("a", f"r{place}", draw.random() ** 2, True, draw.choice((1.0, 5.0)), False)
            for place in range(8)
        ]
        found = sum(batch.cost_s for batch in plan_runs(answer(*rows)).batches)
        costs = []
        for cuts in range(2**7):
            ends = [place + 1 for place in range(7) if cuts >> place & 1] + [8]
            begins = [0, *ends[:-1]]
            costs.append(
                sum(
                    batch_cost(sum(r[2] for r in rows[b:e]), e - b, rows[e - 1][4])
                    for b, e in zip(begins, ends, strict=True)
                )
            )
        assert found == pytest.approx(min(costs))
