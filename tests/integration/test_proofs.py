"""Proofs fail where what they prove says nothing: intervals that always hold, tests that never
reject."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from benchmarks.prove import analysed, correlated, dependent, dimensioned
from benchmarks.prove.judging import Tally

COUNT = 2000


def tally(covered, *, population="lognormal 5 %", unbounded=0, quantity="ratio"):
    found = Tally(quantity, (population, "none", "30"))
    for number in range(COUNT):
        bounded = number >= unbounded
        found.add(number < covered * COUNT, False, 30, seen=True, bounded=bounded)
    return found


@pytest.mark.parametrize("quantity", ["mean", "ratio"])
def test_intervals_without_bounds_prove_nothing(quantity):
    assert tally(0.95, quantity=quantity).status == "held"
    assert tally(0.95, unbounded=COUNT // 10, quantity=quantity).status == "FAILED"


def test_intervals_that_are_far_too_wide_for_clean_values_fail():
    assert tally(0.999).status == "wide"
    assert tally(0.999, population="normal 5 %").status == "FAILED"
    assert tally(0.965, population="normal 5 %").status in ("held", "wide")


def test_a_ratio_of_few_noisy_blocks_must_have_bounds():
    asked = dependent.Situation("normal 50 %", 0.0, 3)
    found = dependent.Outcome(asked, count=COUNT, covered=COUNT, bounded=COUNT)
    assert list(found.problems()) == []
    found.bounded -= 1
    assert len(list(found.problems())) == 1


def of_a_table(share, *, is_test=False, unbounded=0, situation="2^3"):
    found = analysed.Outcome("anova", situation, True, "", "b", share, 0.0, COUNT, is_test)
    return replace(found, unbounded=unbounded).problem()


def test_effects_of_tables_need_bounds_and_tests_have_to_reject():
    assert of_a_table(0.95) is None
    assert "without bounds" in of_a_table(0.95, unbounded=COUNT // 20)
    assert of_a_table(0.95, unbounded=COUNT // 2, situation="40 rows, quantile 0.9") is None
    assert "says nothing" in of_a_table(1.0)
    assert of_a_table(0.05, is_test=True) is None
    assert "never rejects" in of_a_table(0.0, is_test=True)


def of_a_correlation(runs, held, alarms):
    asked = correlated.Situation("numbers", runs, 30)
    return correlated.problems(correlated.Outcome(asked, runs.r, held, alarms, 0.0, COUNT))


def test_correlations_have_to_be_found():
    none, strong = correlated.Normal(0), correlated.Normal(0.9)
    assert of_a_correlation(none, 0.95, 0.045) == []
    assert of_a_correlation(strong, 0.95, 0.99) == []
    assert len(of_a_correlation(none, 0.95, 0.0)) == 1
    assert len(of_a_correlation(strong, 0.95, 0.0)) == 1
    assert len(of_a_correlation(strong, 1.0, 0.99)) == 1


def test_an_interval_of_a_variance_that_spans_any_number_proves_nothing():
    asked = next(one for one in dimensioned.SITUATIONS if one.name == "30, normal")
    found = dimensioned.simulate(asked, 40)
    assert list(found.problems()) == []
    found.top_spans = [inf] * 40
    assert len(list(found.problems())) == 1
