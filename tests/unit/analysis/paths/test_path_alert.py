"""Alerts of keys that no run has shown."""

from __future__ import annotations

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_alert import KeyedSample, PathAlerts
from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.stack_alignment import Key

FUNCTIONS = {1: "main", 2: "far", 3: "leaf"}
NODES = (
    PathNode(ROOT, 1, 32, 1),
    PathNode(0, 2, 96, 4),
    PathNode(1, 3, 128, 4),
    PathNode(0, 3, 64, 9),
)


def alerts() -> PathAlerts:
    path_map = PathMap("p", "ab", 1, FUNCTIONS, {}, NODES)
    return PathAlerts(KeyedPaths(path_map, {}), lambda at: FUNCTIONS.get(at, "new"))


def sample(key, time_ns=1):
    return KeyedSample(key, time_ns, 7, 8)


def test_a_key_is_told_once_with_the_learnt_path_whose_height_is_nearest():
    told = alerts()
    first, second = sample(Key(3, 112), 5), sample(Key(3, 112), 6)
    (alert,) = told.of([sample(Key(3, 64)), sample("in a library"), first, second])
    assert (alert.function, alert.height_bytes, alert.time_ns) == ("leaf", 112, 5)
    assert (alert.process, alert.thread) == (7, 8)
    assert alert.nearest is not None
    assert alert.nearest.functions == ("main", "far", "leaf")
    assert alert.nearest_height_bytes == 128
    assert told.of([first]) == []


def test_a_function_that_was_never_learnt_has_no_nearest_path():
    (alert,) = alerts().of([sample(Key(4, 64))])
    assert alert.function == "new"
    assert alert.nearest is None
    assert alert.nearest_height_bytes is None
