import pytest

from steelyard.analysis.profiles.agreement_results import ProgramProfiles
from steelyard.analysis.profiles.profile_agreement import agreement, mean_shares, union_sizes
from steelyard.core.estimate import Estimate, Unbounded


def profiles(name="p", calls=(), **shares):
    """Each profiler with three runs that say the same."""
    return ProgramProfiles(
        name, "", {profiler: [given] * 3 for profiler, given in shares.items()}, frozenset(calls)
    )


SAME = {"a": 0.6, "b": 0.3, "c": 0.1}
OTHER = {"x": 0.6, "y": 0.3, "z": 0.1}


def test_profilers_that_agree_have_as_many_functions_as_are_asked_for():
    assert union_sizes([SAME, SAME, SAME])[:3] == [1, 2, 3]


def test_profilers_that_share_nothing_have_as_many_times_more():
    assert union_sizes([SAME, OTHER])[:3] == [2, 4, 6]


# Four profilers of section 3.1 of the thesis: two name one method, the others one each.
def test_the_order_within_the_hottest_does_not_matter_to_their_union():
    swapped = {"b": 0.5, "a": 0.4, "c": 0.1}
    assert union_sizes([SAME, swapped])[:3] == [2, 2, 3]


def test_means_count_runs_without_a_sample_of_the_function():
    assert mean_shares([{"a": 1.0}, {"a": 0.5, "b": 0.5}]) == {"a": 0.75, "b": 0.25}


@pytest.mark.parametrize(
    ("calls", "relation"),
    [
        ((), "disagree"),
        ((("a", "x"),), "caller-callee"),
        ((("x", "m"), ("m", "a")), "caller-callee"),
        # That somebody calls both does not make them caller and callee.
        ((("main", "a"), ("main", "x")), "disagree"),
        # Recursion ends.
        ((("a", "b"), ("b", "a")), "disagree"),
    ],
)
def test_two_hottest_functions_are_related_by_calls_through_others(calls, relation):
    (found,) = agreement([profiles(one=SAME, two=OTHER, calls=calls)]).programs
    assert [pair.relation for pair in found.pairs] == [relation]
    assert found.pairs[0].stability == 1


def test_every_pair_of_profilers_is_counted_once():
    found = agreement([profiles(one=SAME, two=SAME, three=OTHER, four=SAME)])
    assert found.relations == {"agree": 3, "caller-callee": 0, "disagree": 3}


def test_every_profilers_share_of_every_hottest_function_is_given():
    (found,) = agreement([profiles(one=SAME, two=OTHER)]).programs
    assert found.share("one", "a").estimate == pytest.approx(0.6)
    assert found.share("two", "a").estimate == 0
    assert {item.function for item in found.hotness} == {"a", "x"}


def test_what_chance_decided_is_not_stable():
    # Of two functions that are equally hot now one is ahead, now the other.
    runs = [{"a": 0.5 + d, "b": 0.5 - d} for d in (0.02, -0.02, 0.01, -0.01)]
    given = ProgramProfiles("p", "", {"one": runs, "two": [SAME] * 4}, frozenset())
    (found,) = agreement([given]).programs
    assert 0.3 < found.pairs[0].stability < 0.9
    assert (found.unions[0].low, found.unions[0].high) == (1, 2)


def test_of_a_single_run_nothing_is_said_of_how_runs_differ():
    given = {"one": [SAME], "two": [OTHER] * 3, "three": [SAME] * 3}
    (found,) = agreement([ProgramProfiles("p", "", given, frozenset())]).programs
    assert [union.estimate for union in found.unions[:2]] == [2, 4]
    assert all(isinstance(union, Unbounded) for union in found.unions)
    stabilities = {(pair.first, pair.second): pair.stability for pair in found.pairs}
    assert stabilities == {("one", "two"): None, ("one", "three"): None, ("two", "three"): 1}


def test_intervals_over_programs_need_several():
    assert isinstance(agreement([profiles(one=SAME, two=SAME)]).unions[0], Unbounded)
    several = agreement([profiles(one=SAME, two=SAME), profiles("q", one=SAME, two=OTHER)])
    assert isinstance(several.unions[0], Estimate)
    assert several.unions[0].estimate == 1.5


def test_pairs_are_counted_over_the_programs_that_both_saw():
    found = agreement(
        [
            profiles("p", one=SAME, two=OTHER),
            # In another order of profilers, and with a third one that is in no other program.
            profiles("q", two={"a": 0.5, "b": 0.5 - 1e-9}, one=SAME, three=SAME),
        ]
    )
    totals = {(pair.first, pair.second): pair for pair in found.pairs}
    assert list(totals) == [("one", "three"), ("one", "two"), ("three", "two")]
    assert totals["one", "two"].relations == {"agree": 1, "caller-callee": 0, "disagree": 1}
    # 0.6 of a, and 0.6 of x, in one program; in the other 0.1 of a, which both find the hottest.
    assert totals["one", "two"].distance.estimate == pytest.approx((0.6 + 0.1) / 2)
    assert isinstance(totals["one", "three"].distance, Unbounded)
    assert totals["one", "three"].distance.estimate == 0


def test_the_same_seed_gives_the_same_answer():
    runs = [{"a": 0.5 + d, "b": 0.5 - d} for d in (0.02, -0.02, 0.01)]
    given = [ProgramProfiles("p", "", {"one": runs, "two": runs[:2]}, frozenset())]
    assert agreement(given, seed=5) == agreement(given, seed=5)
