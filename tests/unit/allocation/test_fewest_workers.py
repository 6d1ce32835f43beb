"""The fewest workers, beside exhaustive search."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest

from steelyard.allocation.cover_program import Demand
from steelyard.allocation.fewest_workers import fewest_workers
from steelyard.allocation.worker_facts import WorkerFacts


def worker(name: str, **levels: str | Sequence[str]) -> WorkerFacts:
    own = {
        factor: frozenset([level] if isinstance(level, str) else level)
        for factor, level in levels.items()
    }
    return WorkerFacts(name, {"name": name}, own)


def made_workers(
    generator: random.Random, count: int, factors: Mapping[str, int]
) -> list[WorkerFacts]:
    """Workers whose levels are drawn; some provide several levels of a factor."""
    several = generator.random() < 0.5
    return [
        worker(
            f"w{index}",
            **{
                name: [
                    f"{name}{level}"
                    for level in generator.sample(
                        range(levels), generator.randint(1, min(3, levels)) if several else 1
                    )
                ]
                for name, levels in factors.items()
            },
        )
        for index in range(count)
    ]


def meets(chosen: Sequence[WorkerFacts], demand: Demand) -> bool:
    """Equations 4.1b to 4.1d, by looking."""

    def there(name: str) -> set[str]:
        return set().union(*(each.levels.get(name, frozenset()) for each in chosen))

    counted = all(len(there(name)) >= count for name, count in demand.counts.items())
    return counted and all(there(name) >= levels for name, levels in demand.named.items())


def smallest_size(workers: Sequence[WorkerFacts], demand: Demand) -> int | None:
    """By trying every set, the smallest first."""
    most = len(workers) if demand.most is None else min(demand.most, len(workers))
    for size in range(demand.least, most + 1):
        if any(meets(chosen, demand) for chosen in combinations(workers, size)):
            return size
    return None


def drawn_case(seed: int) -> tuple[list[WorkerFacts], Demand]:
    generator = random.Random(seed)
    factors = {f"f{index}": generator.randint(1, 5) for index in range(generator.randint(1, 4))}
    workers = made_workers(generator, generator.randint(1, 9), factors)
    named = {}
    if generator.random() < 0.3:
        name = generator.choice(sorted(factors))
        named[name] = frozenset({f"{name}{generator.randrange(factors[name])}"})
    demand = Demand(
        {name: generator.randint(1, count) for name, count in factors.items()},
        named,
        generator.randint(1, 3),
        generator.choice([None, None, 3, 5]),
    )
    return workers, demand


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_they_are_as_few_as_exhaustive_search_finds(first: int) -> None:
    for seed in range(first, first + 100):
        workers, demand = drawn_case(seed)
        found = fewest_workers(workers, demand, seed)
        best = smallest_size(workers, demand)
        if best is None:
            assert found is None, seed
            continue
        assert found is not None, seed
        assert (len(found.workers), found.bound) == (best, best), seed
        assert meets([each for each in workers if each.name in found.workers], demand), seed


def test_among_sets_of_one_size_each_worker_is_drawn_sometimes_and_the_same_by_the_same_seed() -> (
    None
):
    workers = [worker(f"w{index}", cpu="a" if index < 3 else "b") for index in range(6)]
    demand = Demand({"cpu": 1})
    drawn = [fewest_workers(workers, demand, seed) for seed in range(200)]
    assert {name for each in drawn for name in each.workers} == {f"w{index}" for index in range(6)}
    assert drawn == [fewest_workers(workers, demand, seed) for seed in range(200)]


def test_a_demand_whose_optimum_is_not_proved_says_how_few_might_do() -> None:
    generator = random.Random(7)
    factors = {f"f{index}": 10 for index in range(8)}
    workers = [
        worker(f"w{n}", **{name: f"{name}{generator.randrange(10)}" for name in factors})
        for n in range(300)
    ]
    demand = Demand(dict.fromkeys(factors, 10))
    found = fewest_workers(workers, demand, 1)
    assert meets([each for each in workers if each.name in found.workers], demand)
    assert 10 <= found.bound < len(found.workers) <= 14
    assert found == fewest_workers(workers, demand, 1)
