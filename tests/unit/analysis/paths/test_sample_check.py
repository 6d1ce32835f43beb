"""Samples are judged by the paths that the same command took."""

from __future__ import annotations

import pytest

from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.sample_check import judged_samples
from steelyard.analysis.paths.stack_alignment import Key

MAIN, A, B, LEAF, COLD = 1, 2, 3, 4, 5


def map_of(*nodes: tuple[int, int, int, int]) -> PathMap:
    functions = {MAIN: "main", A: "a", B: "b", LEAF: "leaf"}
    return PathMap("p", "b", 1, functions, {}, [PathNode(*node) for node in nodes])


TAKEN = map_of(
    (ROOT, MAIN, 16, 1),
    (0, A, 32, 2),
    (0, B, 32, 2),
    (1, LEAF, 64, 30),
    (2, LEAF, 64, 10),
)


def test_a_key_of_several_paths_counts_for_each_by_its_entries():
    learnt = map_of((ROOT, MAIN, 16, 1), (0, A, 32, 1), (1, LEAF, 64, 1))
    keys = (
        [Key(LEAF, 64)] * 8 + [Key(A, 32)] * 2 + [Key(B, 32)] * 2 + ["in a library", Key(LEAF, 80)]
    )
    found = judged_samples(learnt, TAKEN, keys, {})
    assert (found.sample_count, found.keyless_count, found.unlearnt_count) == (12, 1, 1)
    assert found.outcomes.resolved == pytest.approx((8 * 0.75 + 2) / 12)
    assert found.outcomes.wrong == pytest.approx(8 * 0.25 / 12)
    assert found.outcomes.missing == pytest.approx(2 / 12)


def test_a_map_that_has_all_paths_is_never_wrong():
    found = judged_samples(TAKEN, TAKEN, [Key(LEAF, 64)] * 3 + [Key(MAIN, 16)], {})
    assert found.outcomes.ambiguous == pytest.approx(0.75)
    assert found.outcomes.resolved == pytest.approx(0.25)
    assert found.outcomes.most_frequent == pytest.approx((3 * 0.75 + 1) / 4)


def test_a_part_of_a_function_is_that_function():
    found = judged_samples(TAKEN, TAKEN, [Key(COLD, 16)], {MAIN: COLD})
    assert found.sample_count == 1
    assert found.outcomes.resolved == 1


def test_no_sample_with_a_path_is_no_share():
    found = judged_samples(TAKEN, TAKEN, ["elsewhere"], {})
    assert found.sample_count == 0
    assert found.outcomes.resolved == 0
