"""Groups: effect sizes first, exact small samples, and data that cannot answer."""

from itertools import combinations, product

import numpy as np
import pytest

from steelyard.analysis.groups.dominance import cliffs_delta
from steelyard.analysis.groups.rank_sum import _difference_at, hodges_lehmann, mann_whitney
from steelyard.analysis.groups.signed_rank import pseudo_median, wilcoxon
from steelyard.analysis.methods import ANALYSES
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Unbounded
from tests.unit.analysis.trials_tables import question, table


def groups(data, asked):
    return ANALYSES.get("groups").analyze(data, asked)


def paired(data, asked):
    return ANALYSES.get("paired").analyze(data, asked)


def test_mann_whitney_counts_every_order_of_small_groups():
    x, y = np.array([1.0, 2.0, 6.0]), np.array([3.0, 4.0, 5.0, 7.0])
    orders = list(combinations(range(7), 4))
    counts = [sum(r - i for i, r in enumerate(order)) for order in orders]
    found = mann_whitney(x, y)
    extreme = min(found.statistic, 12 - found.statistic)
    expected = 2 * sum(count <= extreme for count in counts) / len(orders)
    assert found.p == pytest.approx(expected)


def test_wilcoxon_counts_every_pattern_of_signs():
    values = np.array([1.0, -2.0, 3.0, 4.0, 5.0])
    sums = [sum(r for r, s in zip(range(1, 6), signs, strict=True) if s) for signs in
            product((0, 1), repeat=5)]  # fmt: skip
    found = wilcoxon(values)
    expected = 2 * sum(total <= 2 for total in sums) / 32
    assert found.p == pytest.approx(expected)


def test_the_shift_of_shifted_values_is_the_shift():
    generator = np.random.default_rng(1)
    x = generator.normal(size=20)
    found = hodges_lehmann(x, x + 3, 0.95)
    assert found.estimate == pytest.approx(3.0)
    assert found.low < 3 < found.high


def test_ordered_differences_are_found_without_making_them_all():
    generator = np.random.default_rng(2)
    x, y = generator.normal(size=50), generator.normal(size=40)
    everything = np.sort(np.subtract.outer(y, x).ravel())
    for place in (0, 3, 999, 1999):
        found = _difference_at(np.sort(x), y, place)
        assert found == pytest.approx(everything[place], abs=1e-12)


def test_too_few_values_for_a_rank_test_have_no_bounds():
    # The rarest order of 3 and 4 values has a chance of 2 in 35, of 4 and 4 of 2 in 70.
    found = hodges_lehmann(np.arange(3.0), np.arange(5.0, 9.0), 0.95)
    assert isinstance(found, Unbounded)
    assert (found.reason, found.estimate) == ("too-few-values", 5.5)
    enough = hodges_lehmann(np.arange(4.0), np.arange(5.0, 9.0), 0.95)
    assert (enough.low, enough.high) == (2.0, 8.0)
    # The rarest signs of 5 values 2 in 32, of 6 values 2 in 64.
    few = pseudo_median(np.arange(5.0), 0.95)
    assert isinstance(few, Unbounded)
    assert (few.reason, few.estimate) == ("too-few-values", 2.0)
    enough = pseudo_median(np.arange(6.0), 0.95)
    assert (enough.low, enough.high) == (0.0, 5.0)


def test_cliffs_delta_is_the_difference_of_two_shares():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0, 5.0])
    found = cliffs_delta(x, y, 0.95)
    pairs = [np.sign(b - a) for a in x for b in y]
    assert found.estimate == pytest.approx(np.mean(pairs))
    assert -1 <= found.low < found.estimate < found.high <= 1


def test_full_dominance_is_not_taken_for_certain():
    found = cliffs_delta(np.arange(10.0), np.arange(10.0) + 100, 0.95)
    assert found.estimate == 1.0
    assert 0 < found.low < 1.0


def test_each_level_is_compared_with_the_first_and_p_values_are_corrected():
    generator = np.random.default_rng(3)
    data = table(a=["x"] * 20 + ["y"] * 20 + ["z"] * 20, y=generator.normal(10, 1, 60))
    found = groups(data, question("y", "a"))
    assert [e.term for e in found.effects if e.measure == "hodges-lehmann"] == ["y - x", "z - x"]
    every = groups(data, question("y", "a", pairs="all", correction="bonferroni"))
    shifts = [e for e in every.effects if e.measure == "hodges-lehmann"]
    assert len(shifts) == 3
    assert [e.adjusted_p for e in shifts] == pytest.approx([min(1, 3 * e.p) for e in shifts])


def test_groups_that_are_not_normal_are_pointed_to_their_ranks():
    generator = np.random.default_rng(4)
    data = table(a=["x"] * 15 + ["y"] * 15, y=np.exp(2 * generator.normal(size=30)))
    found = groups(data, question("y", "a"))
    assert found.assumptions[0].holds is False
    assert "hodges-lehmann" in found.assumptions[0].advice


def test_one_value_a_group_gives_no_bounds_but_no_crash():
    found = groups(table(a=["x", "y"], y=[1.0, 2.0]), question("y", "a"))
    by_measure = {e.measure: e.effect for e in found.effects}
    assert isinstance(by_measure["difference-of-means"], Unbounded)
    assert isinstance(by_measure["cliffs-delta"], Unbounded)
    assert by_measure["difference-of-means"].estimate == 1.0
    assert "one-replicate" in {c.code for c in found.cautions}


def test_constant_groups_are_told_of():
    found = groups(table(a=["x"] * 4 + ["y"] * 4, y=[1.0] * 8), question("y", "a"))
    assert "constant-response" in {c.code for c in found.cautions}


@pytest.mark.parametrize("factors", ["a,b", "c"])
def test_groups_take_one_factor_of_several_levels(factors):
    data = table(a=["x", "y"], b=["x", "y"], c=["x", "x"], y=[1.0, 2.0])
    with pytest.raises(AnalysisError, match="factor"):
        groups(data, question("y", factors))


def test_blocks_take_off_what_they_share():
    generator = np.random.default_rng(5)
    drift = np.repeat(generator.normal(0, 10, 20), 2)
    code = np.tile([0.0, 1.0], 20)
    data = table(
        a=code,
        block=np.repeat(np.arange(20), 2),
        y=100 + drift + code + generator.normal(0, 0.1, 40),
    )
    found = {e.measure: e.effect for e in paired(data, question("y", "a")).effects}
    assert found["difference-of-means"].low < 1 < found["difference-of-means"].high
    assert found["difference-of-means"].half_width < 0.1
    assert found["pseudo-median"].half_width < 0.1


def test_incomplete_blocks_are_left_out_and_counted():
    data = table(a=[0, 1, 0, 1, 0], block=[0, 0, 1, 1, 2], y=[1.0, 2.0, 1.1, 2.2, 9.0])
    found = paired(data, question("y", "a"))
    assert found.facts["blocks"] == 2
    assert "incomplete-blocks" in {c.code for c in found.cautions}
    with pytest.raises(AnalysisError, match="No level of 'block'"):
        paired(table(a=[0, 1], block=[0, 1], y=[1.0, 2.0]), question("y", "a"))
