"""Shares of paths, from samples with keys."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.paths.lookup import Candidate, KeyedPaths
from steelyard.analysis.paths.path_map import NO_HEIGHT, ROOT, PathMap, PathNode
from steelyard.analysis.paths.sampled_paths import (
    AMBIGUOUS,
    MISSING,
    PathView,
    marked,
    sampled_paths,
)
from steelyard.analysis.paths.stack_alignment import Key
from steelyard.analysis.profiles.call_stacks import merged_stacks
from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples
from steelyard.core.estimate import Estimate

# `leaf` is called by `main` and by `f` at one height, three times to one, and by `f` at another.
NODES = (
    PathNode(ROOT, 1, 16, 1),
    PathNode(0, 2, 48, 2),
    PathNode(0, 3, 64, 3),
    PathNode(1, 3, 64, 1),
    PathNode(1, 3, 96, 5),
    PathNode(ROOT, 3, NO_HEIGHT, 9),
)
KEYED = KeyedPaths(PathMap("p", "ab", 1, {1: "main", 2: "f", 3: "leaf"}, {}, NODES), {})
RESOLVED, UNSURE, UNKNOWN = Key(3, 96), Key(3, 64), Key(3, 8)


def answered(keys, leaf="leaf", most_named=None, candidates=None):
    count = len(keys)
    numbers = np.zeros(count, np.int64)
    samples = ProfileSamples(
        frames=(Frame(leaf, "/p"),),
        functions=numbers,
        times_ns=np.arange(count, dtype=np.uint64) * np.uint64(1_000_000),
        cpus=np.zeros(count, np.uint16),
        threads=np.ones(count, np.uint32),
        processes=np.ones(count, np.uint32),
        in_kernel=np.zeros(count, bool),
        inlined=np.zeros(count, bool),
        stacks=numbers,
        stack_lengths=np.ones(count, np.int64),
        thread_names={},
    )
    header = {"period": 1e6, "unit": "ns", "spread": "uniform", "event": "cpu-clock"}
    recorded = Recorded("p", header, {}, samples.times_ns, samples.cpus)
    view = PathView(most_named=most_named)
    return sampled_paths(profile_answer(samples, recorded), "map", KEYED, keys, view, candidates)


def named_stacks(samples):
    return {
        tuple(samples.frames[frame].name for frame in stack): count
        for stack, count in merged_stacks(samples)
    }


def test_samples_are_resolved_ambiguous_or_missing():
    paths = answered([RESOLVED] * 5 + [UNSURE] * 4 + [UNKNOWN] + ["in a library"] * 2)
    assert dict(paths.counts) == {"resolved": 5, "ambiguous": 4, "missing": 3}
    assert paths.key_count == 3
    first, second = paths.paths
    assert first.frames == ("main", "f", "leaf")
    assert (first.sample_count, len(first.candidates)) == (5, 1)
    assert isinstance(first.share, Estimate)
    assert first.share.estimate == pytest.approx(5 / 12)
    assert first.share.low < 5 / 12 < first.share.high
    assert second.frames == ("leaf",)
    assert [one.functions for one in second.candidates] == [("main", "leaf"), ("main", "f", "leaf")]
    assert [(one.reason, one.sample_count) for one in paths.missing] == [
        ("in a library", 2),
        ("key never learnt", 1),
    ]


def test_ambiguous_samples_are_spread_by_learnt_shares_at_every_moment():
    for count in (1, 4, 8, 40):
        stacks = named_stacks(answered([UNSURE] * count).stacks)
        assert abs(stacks["main", "leaf"] - 0.75 * count) < 1
        assert sum(stacks.values()) == count


def test_viewers_that_know_no_ambiguity_see_it_as_a_frame_below():
    samples = marked(answered([RESOLVED, UNSURE, UNKNOWN, RESOLVED]))
    assert named_stacks(samples) == {
        ("main", "f", "leaf"): 2,
        (AMBIGUOUS, "main", "leaf"): 1,
        (MISSING, "leaf"): 1,
    }


def test_an_inlined_function_stands_upon_the_one_that_it_was_inlined_into():
    stacks = named_stacks(answered([RESOLVED], leaf="inlined").stacks)
    assert stacks == {("main", "f", "leaf", "inlined"): 1}


def test_what_ran_on_another_stack_than_the_threads_has_no_key():
    assert KEYED.candidates(3, NO_HEIGHT) == ()


def test_the_most_frequent_candidates_are_named_and_the_rest_is_undetermined():
    paths = answered([UNSURE] * 8 + [RESOLVED] * 2, most_named=1)
    assert dict(paths.counts) == {"resolved": 2, "ambiguous": 8, "missing": 0}
    unsure = paths.paths[0]
    assert unsure.frames == ("leaf",)
    assert [one.functions for one in unsure.candidates] == [("main", "leaf")]
    assert (unsure.candidate_count, unsure.undetermined_ratio) == (2, pytest.approx(0.25))
    assert named_stacks(paths.stacks) == {
        ("main", "leaf"): 6,
        ("[undetermined]", "leaf"): 2,
        ("main", "f", "leaf"): 2,
    }


def test_no_candidate_is_named_where_none_is_asked_for():
    paths = answered([UNSURE] * 8 + [RESOLVED], most_named=0)
    unsure, resolved = paths.paths
    assert (unsure.candidates, unsure.undetermined_ratio) == ((), 1.0)
    assert resolved.frames == ("main", "f", "leaf")
    assert resolved.undetermined_ratio == 0.0
    assert named_stacks(paths.stacks)["[undetermined]", "leaf"] == 8
    assert named_stacks(marked(paths))[AMBIGUOUS, "[undetermined]", "leaf"] == 8


BY_CODE = Candidate(("main", "f", "leaf"), 1.0, is_learnt=False)
HALVES = tuple(
    Candidate(names, 0.5, is_learnt=False) for names in (("main", "leaf"), ("main", "g", "leaf"))
)


def test_a_path_of_the_map_and_of_the_code_is_one_path():
    learnt = KEYED.candidates(*RESOLVED)
    paths = answered([RESOLVED] * 3 + [UNKNOWN] * 2, candidates=[learnt] * 3 + [(BY_CODE,)] * 2)
    (one,) = paths.paths
    assert (one.sample_count, one.by_code_count, one.candidate_count) == (5, 2, 1)
    assert dict(paths.counts) == {"resolved": 5, "ambiguous": 0, "missing": 0}
    assert dict(paths.by_code) == {"resolved": 2, "ambiguous": 0}
    assert named_stacks(paths.stacks) == {("main", "f", "leaf"): 5}


def test_paths_by_the_code_are_never_one_with_the_same_paths_by_learnt_shares():
    alike = tuple(Candidate(one.functions, one.share) for one in HALVES)
    paths = answered([UNSURE, UNKNOWN], candidates=[alike, HALVES])
    assert sorted(one.by_code_count for one in paths.paths) == [0, 1]


@pytest.mark.parametrize("most_named", [0, 1])
def test_what_is_not_named_of_the_code_is_by_the_code_too(most_named):
    paths = answered([UNKNOWN] * 4, most_named=most_named, candidates=[HALVES] * 4)
    (one,) = paths.paths
    assert (one.by_code_count, one.candidate_count) == (4, 2)
    assert one.undetermined_ratio == pytest.approx(1 - most_named / 2)
    assert named_stacks(paths.stacks)["[undetermined]", "leaf"] == 4 - 2 * most_named
