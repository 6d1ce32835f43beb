"""Which candidates of an ambiguous key are named."""

from __future__ import annotations

import pytest

from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.named_candidates import ALL, UNDETERMINED, common_end, named

FIRST = Candidate(("main", "left", "f", "leaf"), 0.5)
SECOND = Candidate(("main", "right", "f", "leaf"), 0.3)
THIRD = Candidate(("main", "far", "f", "leaf"), 0.2)
CANDIDATES = (FIRST, SECOND, THIRD)


def test_all_candidates_are_named_unless_fewer_are_asked_for():
    for most in (ALL, 3, 7):
        found = named(CANDIDATES, most)
        assert found.candidates == found.stacks == CANDIDATES
        assert found.candidate_count == 3


def test_the_most_frequent_are_named_and_the_rest_stands_below_what_all_end_with():
    found = named(CANDIDATES, 1)
    assert found.candidates == (FIRST,)
    named_one, rest = found.stacks
    assert named_one == FIRST
    assert rest.functions == (UNDETERMINED, "f", "leaf")
    assert rest.share == pytest.approx(0.5)
    assert found.candidate_count == 3


def test_with_none_named_all_of_the_key_is_undetermined():
    found = named(CANDIDATES, 0)
    assert found.candidates == ()
    assert found.stacks == (Candidate((UNDETERMINED, "f", "leaf"), 1.0),)


def test_a_resolved_key_keeps_its_path_and_a_missing_one_has_none():
    assert named((FIRST,), 0).stacks == (FIRST,)
    assert named((), 0).stacks == ()


def test_candidates_of_different_ends_have_no_common_end():
    assert common_end((FIRST, Candidate(("main", "leaf.part.0"), 0.1))) == ()
