"""Paths that share their ends."""

from __future__ import annotations

from steelyard.analysis.paths.shared_stops import SharedStops


def test_paths_of_the_same_stops_have_one_number():
    stops = SharedStops()
    leaf = stops.before((3, 9))
    first, second = stops.before((1, 4), leaf), stops.before((2, 4), leaf)
    assert stops.before((1, 4), leaf) == first != second
    assert stops.stops(stops.before((0, 1), first)) == ((0, 1), (1, 4), (3, 9))
    assert stops.stops(second) == ((2, 4), (3, 9))
    assert stops.before((3, 8)) != leaf
