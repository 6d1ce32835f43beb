"""Levels that hosts are brought to: each worker has what it can of those used, and no more."""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.allocation.allocate import allocate
from steelyard.allocation.brought_levels import block_places, used_levels
from steelyard.allocation.hosts_asked import read_hosts_asked
from steelyard.allocation.worker_facts import worker_facts
from steelyard.core.errors import UsageError


def host(name, images=(), **facts):
    return worker_facts({"name": name, "images": frozenset(images), **facts})


def places(given, workers, seed=1, replicates=1):
    """Who runs it, and the places of its blocks."""
    asked = read_hosts_asked(given)
    chosen = allocate(asked, workers, seed).workers
    runners = [worker for worker in workers if worker.name in chosen]
    used = used_levels(asked, runners, seed)
    return chosen, used, block_places(runners, used, replicates, seed)


def test_all_images_are_had_of_the_fewest_hosts_and_each_runs_those_that_it_has() -> None:
    workers = [host("a"), host("b", ["old"]), host("c", ["old", "new"]), host("d", ["new"])]
    chosen, used, blocks = places({"factors": {"image": "100%"}}, workers, replicates=2)
    assert chosen == ("c",)
    assert used == {"image": ("host", "new", "old")}
    assert Counter((p.worker, p.levels) for p in blocks) == {
        ("c", (("image", level),)): 2 for level in ("host", "new", "old")
    }


def test_a_host_that_lacks_an_image_is_not_asked_for_it() -> None:
    workers = [host("a", ["old"]), host("b", ["new"])]
    _, _, blocks = places({"factors": {"image": ["old", "new"], "worker": "100%"}}, workers)
    assert {(p.worker, *p.levels) for p in blocks} == {
        ("a", ("image", "old")),
        ("b", ("image", "new")),
    }
    with pytest.raises(UsageError, match="image at newest"):
        places({"factors": {"image": ["newest"]}}, workers)
    _, _, blocks = places({"require": {"images": ["new"]}}, workers)
    assert [p.worker for p in blocks] == ["b"]


def test_a_share_of_images_is_drawn_and_no_image_is_the_drawn_one_for_ever() -> None:
    workers = [host("a", [f"i{number}" for number in range(4)])]
    drawn = Counter()
    for seed in range(200):
        _, used, blocks = places({"factors": {"image": "40%"}}, workers, seed)
        assert len(used["image"]) == len(blocks) == 2
        drawn.update(used["image"])
    # Each of five levels is drawn in two of five draws: 80, with a standard deviation of 7.
    assert all(45 < drawn[level] < 115 for level in ("host", "i0", "i1", "i2", "i3"))


def test_every_worker_that_runs_it_has_one_of_the_levels_that_are_used() -> None:
    workers = [host("a", ["x", "y"]), host("b", ["z"])]
    for seed in range(50):
        chosen, used, blocks = places({"factors": {"worker": "100%", "image": "0%"}}, workers, seed)
        assert chosen == ("a", "b")
        assert {p.worker for p in blocks} == {"a", "b"}
        assert len(used["image"]) == 1


def test_boots_and_images_are_crossed_on_hosts_that_can_be_booted() -> None:
    workers = [host("a", ["x"]), host("b", ["x"], boots="yes")]
    given = {"factors": {"image": ["host", "x"], "reboot": ["never", "trial"]}}
    chosen, _, blocks = places(given, workers)
    assert chosen == ("b",)
    assert {p.levels for p in blocks} == {
        (("image", image), ("reboot", reboot))
        for image in ("host", "x")
        for reboot in ("never", "trial")
    }
    with pytest.raises(UsageError, match=r"varied under `factors` and held by `reboot`"):
        read_hosts_asked({"factors": {"reboot": "100%"}, "reboot": "block"})
