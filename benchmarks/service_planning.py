"""How long it takes to choose workers: three hundred made-up ones, eighty levels.

    python -m benchmarks.service_planning

Fleets of three kinds: *platforms*, whose facts go together as they do in a real fleet (a worker is
of one of 40 kinds of host, each of which has one level of every factor); *drawn*, where each worker
has one level of each of eight factors of ten, drawn at random, the hardest there is; and *several*,
where workers provide up to three levels of seven factors. Each line is the worst of 20 fleets.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping

from steelyard.allocation.cover_program import Demand
from steelyard.allocation.fewest_workers import fewest_workers
from steelyard.allocation.worker_facts import WorkerFacts

WORKERS, FLEETS, LIMIT_S = 300, 20, 2.0
UNLIKE = {"a": 30, "b": 20, "c": 10, "d": 8, "e": 6, "f": 4, "g": 2}
ALIKE = {f"f{index}": 10 for index in range(8)}

Levels = Mapping[str, frozenset[str]]
Fleet = Callable[[random.Random], list[Levels]]


def _one_of_each(generator: random.Random, factors: Mapping[str, int]) -> Levels:
    return {name: frozenset([f"{name}{generator.randrange(n)}"]) for name, n in factors.items()}


def _platforms(generator: random.Random) -> list[Levels]:
    kinds = [_one_of_each(generator, UNLIKE) for _ in range(40)]
    return [generator.choice(kinds) for _ in range(WORKERS)]


def _drawn(generator: random.Random) -> list[Levels]:
    return [_one_of_each(generator, ALIKE) for _ in range(WORKERS)]


def _several(generator: random.Random) -> list[Levels]:
    def some(name: str, count: int) -> frozenset[str]:
        chosen = generator.sample(range(count), generator.randint(1, min(3, count)))
        return frozenset(f"{name}{level}" for level in chosen)

    return [{name: some(name, n) for name, n in UNLIKE.items()} for _ in range(WORKERS)]


FLEET_KINDS: Mapping[str, Fleet] = {"platforms": _platforms, "drawn": _drawn, "several": _several}


def _demand(levels: list[Levels], share: float) -> Demand:
    names = sorted({name for each in levels for name in each})
    known = {name: set[str]().union(*(each[name] for each in levels)) for name in names}
    return Demand({name: max(1, round(share * len(known[name]))) for name in names})


def main() -> int:
    """Print a table; 1 if any fleet took longer than the limit."""
    late = False
    print(f"{'fleet':<10} {'share':>6} {'workers':>8} {'proved':>7} {'CPU s':>6} {'wall s':>7}")
    for name, fleet in FLEET_KINDS.items():
        for share in (1.0, 0.5):
            sizes, proved, cpu_s, wall_s = [], 0, 0.0, 0.0
            for seed in range(FLEETS):
                levels = fleet(random.Random(f"{name} {seed}"))
                workers = [
                    WorkerFacts(f"w{index:03}", {"name": f"w{index:03}"}, own)
                    for index, own in enumerate(levels)
                ]
                cpu_start, start = time.process_time(), time.perf_counter()
                found = fewest_workers(workers, _demand(levels, share), seed)
                cpu_s = max(cpu_s, time.process_time() - cpu_start)
                wall_s = max(wall_s, time.perf_counter() - start)
                if found is None:
                    raise SystemExit(f"{name} {seed}: none found, where all workers would do.")
                sizes.append(len(found.workers))
                proved += found.bound == len(found.workers)
            late |= cpu_s >= LIMIT_S
            size = f"{min(sizes)}-{max(sizes)}"
            print(
                f"{name:<10} {share:>6.0%} {size:>8} {proved:>4}/{FLEETS}"
                f" {cpu_s:>6.2f} {wall_s:>7.2f}"
            )
    print("holds" if not late else f"does not hold: {LIMIT_S:.0f} s were wanted")
    return int(late)


if __name__ == "__main__":
    raise SystemExit(main())
