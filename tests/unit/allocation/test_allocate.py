"""What is asked of hosts, and who runs an experiment."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from steelyard.allocation.allocate import allocate
from steelyard.allocation.block_places import block_workers
from steelyard.allocation.contradiction import smallest_contradiction
from steelyard.allocation.hosts_asked import read_hosts_asked
from steelyard.allocation.level_shares import drawn_levels, level_count
from steelyard.allocation.worker_facts import worker_facts
from steelyard.core.errors import UsageError

GIB = 1 << 30
WORKERS = [
    worker_facts(
        {
            "name": name,
            "architecture": architecture,
            "cpu-model": model,
            "cpus": cpus,
            "memory": memory * GIB,
            "flags": frozenset(flags),
        }
    )
    for name, architecture, model, cpus, memory, flags in [
        ("a1", "x86_64", "EPYC", 16, 64, ("avx2", "sse4_2")),
        ("a2", "x86_64", "EPYC", 16, 64, ("avx2", "sse4_2")),
        ("b", "x86_64", "Atom", 4, 4, ("sse4_2",)),
        ("c", "aarch64", "Neoverse", 64, 128, ("sve",)),
        ("d", "aarch64", "Cortex", 4, 2, ()),
        ("e", "riscv64", "U74", 4, 8, ()),
    ]
]


def asked(**given):
    return read_hosts_asked(given)


def test_all_of_a_factor_takes_one_worker_of_each_level_and_none_of_it_takes_one() -> None:
    assert len(allocate(asked(factors={"platform": "100%"}), WORKERS, 1).workers) == 5
    assert len(allocate(asked(factors={"architecture": "100%"}), WORKERS, 1).workers) == 3
    assert len(allocate(asked(factors={"architecture": "0%"}), WORKERS, 1).workers) == 1
    assert len(allocate(asked(factors={"architecture": "50%"}), WORKERS, 1).workers) == 2
    both = asked(factors={"architecture": 1.0, "worker": "50%"})
    assert len(allocate(both, WORKERS, 1).workers) == 3


def test_a_share_is_one_of_the_levels_of_hosts_that_meet_the_requirements() -> None:
    of_x86 = asked(require={"architecture": "x86_64"}, factors={"platform": "100%"})
    workers = allocate(of_x86, WORKERS, 3).workers
    assert len(workers) == 2
    assert "b" in workers


@pytest.mark.parametrize(
    ("require", "names"),
    [
        ({"memory": ">= 8GiB"}, {"a1", "a2", "c", "e"}),
        ({"memory": "< 8G"}, {"b", "d"}),
        ({"cpus": 4}, {"b", "d", "e"}),
        ({"flags": ["avx2", "sse4_2"]}, {"a1", "a2"}),
        ({"architecture": ["aarch64", "riscv64"], "cpus": "> 4"}, {"c"}),
        ({"name": "d"}, {"d"}),
    ],
)
def test_requirements_leave_the_hosts_that_meet_them(require, names) -> None:
    found = allocate(asked(require=require, factors={"worker": "100%"}), WORKERS, 0)
    assert set(found.workers) == names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"require": {"architecture": "aarch64", "flags": ["avx2"], "memory": ">= 1G"}},
            ["architecture = aarch64", "flags has avx2"],
        ),
        ({"require": {"memory": ">= 1000G", "cpus": 4}}, ["memory >= 1000G"]),
        (
            {"factors": {"platform": "100%", "architecture": "50%"}, "workers": "1-2"},
            ["5 levels of platform", "at most 2 workers"],
        ),
        (
            {"factors": {"cpu-model": ["U74"]}, "require": {"architecture": "x86_64"}},
            ["cpu-model at U74", "architecture = x86_64"],
        ),
        ({"workers": 9, "require": {"cpus": ">= 1"}}, ["at least 9 workers"]),
    ],
)
def test_what_cannot_be_had_is_refused_by_the_fewest_wishes_that_contradict(given, words) -> None:
    with pytest.raises(UsageError) as refused:
        allocate(asked(**given), WORKERS, 1)
    named = refused.value.message
    assert all(word in named for word in words), named
    assert named.count(";") == len(words) - 1, named


def test_the_smallest_contradiction_is_that_of_trying_every_set() -> None:
    generator = random.Random(3)
    for _ in range(200):
        count = generator.randint(1, 7)
        cores = [
            frozenset(generator.sample(range(count), generator.randint(1, count)))
            for _ in range(generator.randint(1, 4))
        ]

        def possible(chosen, cores=cores) -> bool:
            return not any(core <= set(chosen) for core in cores)

        found = smallest_contradiction(count, possible)
        size = next(
            size
            for size in range(1, count + 1)
            if any(not possible(each) for each in combinations(range(count), size))
        )
        assert len(found) == size
        assert not possible(found)


@pytest.mark.parametrize(
    ("share", "count", "levels"),
    [(0.0, 4, 1), (0.75, 4, 3), (1.0, 4, 4), (0.5, 5, 3), (0.01, 9, 1), (1 / 3, 3, 1), (0.0, 1, 1)],
)
def test_a_share_of_levels_is_rounded_up_and_never_none(share, count, levels) -> None:
    assert level_count(share, count) == levels


def test_levels_of_a_share_are_drawn_with_equal_probability_and_keep_their_order() -> None:
    levels = ("-O0", "-O1", "-O2", "-O3")
    drawn = [drawn_levels(levels, 0.5, seed, "flags") for seed in range(6000)]
    assert all(list(each) == sorted(each) and len(each) == 2 for each in drawn)
    counts = [drawn.count(pair) for pair in combinations(levels, 2)]
    # Six pairs of 1,000 each; 180 is six standard deviations.
    assert all(abs(count - 1000) < 180 for count in counts)


def test_each_worker_has_its_blocks_and_every_round_has_each_worker_once() -> None:
    places = block_workers(("a", "b", "c"), 4, 11)
    assert len(places) == 12
    assert all(sorted(places[start : start + 3]) == ["a", "b", "c"] for start in range(0, 12, 3))
    assert places != tuple(sorted(places[:3])) * 4


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"require": {"colour": "red"}}, "hosts.require.colour"),
        ({"require": {"memory": ">= lots"}}, "hosts.require.memory"),
        ({"require": {"memory": [1, 2]}}, "hosts.require.memory"),
        ({"require": {"cpus": None}}, "hosts.require.cpus"),
        ({"require": ["cpus"]}, "hosts.require"),
        ({"factors": {"colour": 1}}, "hosts.factors.colour"),
        ({"factors": {"platform": "110%"}}, "hosts.factors.platform"),
        ({"factors": {"platform": True}}, "hosts.factors.platform"),
        ({"factors": {"platform": []}}, "hosts.factors.platform"),
        ({"replicates": 0}, "hosts.replicates"),
        ({"replicates": 2.5}, "hosts.replicates"),
        ({"workers": "8-2"}, "hosts.workers"),
        ({"workers": "some"}, "hosts.workers"),
        ({"workers": True}, "hosts.workers"),
        ({"colour": 1}, "hosts.colour"),
    ],
)
def test_a_wrong_wish_is_named_by_its_field(given, field) -> None:
    with pytest.raises(UsageError) as refused:
        read_hosts_asked(given)
    assert refused.value.field == field
    assert field in refused.value.message
