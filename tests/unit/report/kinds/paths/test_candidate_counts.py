"""The figure of how many paths samples may mean."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from steelyard.report.kinds.paths.candidate_counts import candidate_counts, candidate_figure


def sampled(shares: dict[int, int], missing: int = 0) -> Any:
    """Samples of keys by their number of candidates."""
    paths = [
        SimpleNamespace(candidate_count=count, sample_count=samples)
        for count, samples in shares.items()
    ]
    counts = {"resolved": 0, "ambiguous": sum(shares.values()), "missing": missing}
    return SimpleNamespace(paths=paths, counts=counts)


def test_samples_without_a_path_have_no_candidates() -> None:
    assert candidate_counts(sampled({1: 5, 3: 2}, missing=4)) == {0: 4, 1: 5, 3: 2}


def test_bars_are_shares_of_all_samples() -> None:
    figure = candidate_figure(sampled({1: 5, 3: 1}, missing=4))["candidates"]
    assert figure["data"][0]["y"] == [40.0, 50.0, 0.0, 10.0]


def test_numbers_beyond_the_last_bar_are_in_it() -> None:
    figure = candidate_figure(sampled({1: 6, 20: 1, 500: 3}))["candidates"]
    shares, words = figure["data"][0]["y"], figure["layout"]["xaxis"]["ticktext"]
    assert (len(shares), shares[-1], words[-1]) == (21, 40.0, "20 or more")


def test_nothing_is_drawn_where_every_sample_has_one_path_or_there_is_none() -> None:
    assert candidate_figure(sampled({1: 9})) == {}
    assert candidate_figure(sampled({})) == {}


def test_samples_that_all_lack_a_path_are_one_bar() -> None:
    figure = candidate_figure(sampled({}, missing=3))["candidates"]
    assert figure["data"][0]["y"] == [100.0]
