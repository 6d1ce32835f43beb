"""The posterior over revisions, and what it asks for next."""

from math import log

import numpy as np
import pytest

from steelyard.analysis.bisection.evidence import (
    Level,
    error_of_run,
    evidence_of_answer,
    evidence_of_value,
)
from steelyard.analysis.bisection.measured_ends import block_logarithms, measured_ends
from steelyard.analysis.bisection.next_test import CostOfTest, propose_test
from steelyard.analysis.bisection.posterior import (
    culprit,
    start_bisection,
    with_broken,
    with_evidence,
)
from steelyard.analysis.bisection.revision_graph import revision_graph
from steelyard.core.errors import AnalysisError

COSTS = CostOfTest(build_s=0.0, run_s=1.0, error_ratio=0.05)


def chain(count):
    names = [f"r{i}" for i in range(count)]
    return revision_graph(names, [[], *([name] for name in names[:-1])])


def diamond():
    """a - b - c - m, and a - x - y - m."""
    return revision_graph(
        ["a", "b", "x", "c", "y", "m"], [[], ["a"], ["a"], ["b"], ["x"], ["c", "y"]]
    )


def test_a_merge_contains_both_sides_and_a_side_not_the_other():
    graph = diamond()
    assert graph.contains[graph.index("m")].all()
    held = {r for r in graph.revisions if graph.contains[graph.index("c"), graph.index(r)]}
    assert held == {"a", "b", "c"}


def test_bayes_theorem_by_hand_on_a_chain_of_two():
    state = start_bisection(chain(2))
    # r0 is slow, said with an error of 5 %: r0 made it with 0.95.
    after = with_evidence(state, "r0", evidence_of_answer(True, 0.05))
    np.testing.assert_allclose(after.probabilities, [0.95, 0.05])


def test_a_slow_side_of_a_merge_leaves_nothing_to_the_other_side():
    graph = diamond()
    state = start_bisection(graph)
    for _ in range(5):
        state = with_evidence(state, "c", evidence_of_answer(True, 0.05))
    probabilities = dict(zip(graph.revisions, state.probabilities, strict=True))
    assert sum(probabilities[r] for r in "abc") > 0.999


def test_the_first_test_of_a_chain_is_its_middle():
    assert propose_test(start_bisection(chain(101)), COSTS).revision in ("r49", "r50", "r51")


def test_weights_move_the_first_test():
    state = start_bisection(chain(101), {"r90": 1000.0})
    assert propose_test(state, COSTS).revision in ("r89", "r90")


def test_builds_that_cost_much_are_run_more_often():
    state = start_bisection(chain(101))
    cheap = propose_test(state, CostOfTest(0.0, 1.0, 0.2))
    dear = propose_test(state, CostOfTest(100.0, 1.0, 0.2))
    assert cheap.run_count <= 2
    assert dear.run_count > 3


def test_a_broken_revision_sends_the_next_test_away_from_it():
    state = start_bisection(chain(101))
    state = with_broken(state, "r50")
    asked = propose_test(state, COSTS).revision
    assert 3 <= abs(int(asked[1:]) - 50) <= 20


def test_revisions_that_do_not_build_are_told_as_inseparable():
    state = start_bisection(chain(5))
    for name in ("r1", "r2"):
        state = with_broken(state, name)
    for name, slow in (("r0", False), ("r3", True), ("r0", False), ("r3", True)):
        state = with_evidence(state, name, evidence_of_answer(slow, 0.01))
    found = culprit(state)
    assert found.inseparable == ("r1", "r2", "r3")
    assert found.set_probability > 0.999
    assert found.probability < 0.4


def test_nothing_is_proposed_when_nothing_builds():
    state = start_bisection(chain(2))
    state = with_broken(with_broken(state, "r0"), "r1")
    assert propose_test(state, COSTS) is None


def test_a_value_between_the_levels_says_nothing_and_one_far_away_little():
    fast, slow = Level(1.0, 0.01), Level(1.1, 0.01)
    assert evidence_of_value(1.05, 0.02, fast, slow) == pytest.approx(0.0, abs=1e-9)
    assert evidence_of_value(1.1, 0.02, fast, slow) > 3
    assert abs(evidence_of_value(9.0, 0.02, fast, slow)) < 0.01


def test_the_evidence_of_a_value_is_the_ratio_of_normal_densities():
    found = evidence_of_value(1.06, 0.05, Level(1.0, 0.0), Level(1.1, 0.0))
    assert found == pytest.approx((0.06**2 - 0.04**2) / (2 * 0.05**2), rel=0.02)


def test_the_error_of_a_run_is_the_normal_tail_beyond_half_the_difference():
    assert error_of_run(2 * 1.6448536269514722, 1.0) == pytest.approx(0.05)
    assert error_of_run(1.0, 0.0) < 1e-5


def test_answers_add_up():
    assert evidence_of_answer(False, 0.05, 3) == pytest.approx(-3 * log(19))


@pytest.mark.parametrize("error", [0.0, 0.5, -1.0, float("nan")])
def test_an_error_that_is_no_probability_below_a_half_is_refused(error):
    with pytest.raises(AnalysisError, match=r"below 0\.5"):
        evidence_of_answer(True, error)


def test_a_child_before_its_parent_and_an_unknown_revision_are_errors():
    with pytest.raises(AnalysisError, match="before its parent"):
        revision_graph(["b", "a"], [["a"], []])
    with pytest.raises(AnalysisError, match="not between"):
        with_evidence(start_bisection(chain(3)), "zz", 1.0)
    with pytest.raises(AnalysisError, match="must be 0 or larger"):
        start_bisection(chain(3), {"r1": float("nan")})


def test_bisection_ends_with_the_right_revision_and_states_how_sure_it_is():
    right = tests = 0
    graph = chain(200)
    random = np.random.default_rng(11)
    for _ in range(60):
        guilty = int(random.integers(200))
        state = start_bisection(graph)
        while culprit(state).probability < 0.995:
            asked = propose_test(state, COSTS)
            slow = graph.contains[graph.index(asked.revision), guilty] != (random.random() < 0.05)
            state = with_evidence(state, asked.revision, evidence_of_answer(bool(slow), 0.05))
        right += culprit(state).revision == f"r{guilty}"
        tests += state.test_count
    # Wrong in at most 0.5 %; 4 of 60 have a probability below 1e-4.
    assert right >= 56
    assert tests / 60 < 20


def test_ends_that_are_measured_say_how_often_one_run_is_wrong():
    ends = measured_ends([0.1, 0.12, 0.08, 0.1])
    assert ends.difference == pytest.approx(0.1)
    assert ends.deviation == pytest.approx(np.std([0.1, 0.12, 0.08, 0.1], ddof=1))
    assert ends.standard_error == pytest.approx(ends.deviation / 2)
    assert ends.error_ratio == pytest.approx(0.05)
    assert ends.evidence([0.1]) == pytest.approx(log(19))
    assert ends.evidence([0.0]) == pytest.approx(-log(19))
    # One disturbed block is outvoted by three that are not.
    assert ends.evidence([0.1, 0.0, 0.0, 0.0]) == pytest.approx(-2 * log(19))
    assert ends.evidence([0.05]) == pytest.approx(0.0, abs=1.0)


def test_a_metric_that_never_varies_is_decided_by_one_run_and_surprises_say_nothing():
    ends = measured_ends([log(1.1)] * 3)
    assert ends.evidence([log(1.1)]) > 4.0
    assert ends.evidence([0.0]) < -4.0
    assert ends.evidence([log(2.0)]) == pytest.approx(0.0, abs=1e-6)


def test_blocks_are_matched_and_values_that_have_no_ratio_are_refused():
    assert block_logarithms({0: 1.0, 2: 2.0}, {2: 4.0, 3: 1.0}) == (pytest.approx(log(2)),)
    with pytest.raises(AnalysisError, match="no block"):
        block_logarithms({0: 1.0}, {1: 1.0})
    with pytest.raises(AnalysisError, match="0 or below"):
        block_logarithms({0: 1.0}, {0: 0.0})
