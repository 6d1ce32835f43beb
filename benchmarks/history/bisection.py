"""How often does bisection name the right revision, and after how many tests?

    python -m benchmarks.history.bisection --repository CLONE [--revisions 1000] [--rounds 2000]
        [--error 0.05] [--broken 0.1] [--seed 1]

The newest part of the history of CLONE with that many revisions, merges and all. In each round one
revision that builds is the one that made the change, each as probable as another; one tenth of the
revisions, in stretches of 3 on average, do not build; each answer is wrong with the probability
given. Beside ours: the same halving that git bisect does, which believes every answer, and halving
with the majority of three and of five answers. A test of a revision that does not build counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.analysis.bisection.evidence import evidence_of_answer
from steelyard.analysis.bisection.next_test import CostOfTest, propose_test
from steelyard.analysis.bisection.posterior import (
    culprit,
    start_bisection,
    with_broken,
    with_evidence,
)
from steelyard.analysis.bisection.revision_graph import Flags, RevisionGraph, revision_graph

CONFIDENCE = 0.995
_STRETCH = 3
_MOST_TESTS = 200


@dataclass
class World:
    """One round: which revision is guilty, which do not build, and a source of answers."""

    graph: RevisionGraph
    guilty: int
    broken: Flags
    error: float
    random: np.random.Generator

    def answer(self, index: int) -> bool:
        """Whether a run says that the revision has the change; sometimes wrong."""
        shows = bool(self.graph.contains[index, self.guilty])
        return shows != bool(self.random.random() < self.error)


@dataclass(frozen=True)
class Ending:
    """What a way of bisecting named, after how many tests."""

    named: frozenset[str]
    tests: int


def history_of(clone: Path, count: int) -> RevisionGraph:
    """The graph of the newest part of a history with about `count` revisions."""
    listed = _git(clone, "rev-list", "--topo-order", "--first-parent", "HEAD").split()
    low, high = 1, len(listed) - 1
    while low < high:
        middle = (low + high) // 2
        inside = int(_git(clone, "rev-list", "--count", f"{listed[middle]}..HEAD"))
        low, high = (middle + 1, high) if inside < count else (low, middle)
    rows = _git(
        clone, "rev-list", "--topo-order", "--reverse", "--parents", f"{listed[low]}..HEAD"
    ).splitlines()
    split = [row.split() for row in rows]
    return revision_graph([row[0] for row in split], [row[1:] for row in split])


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def make_world(
    graph: RevisionGraph, error: float, share: float, random: np.random.Generator
) -> World:
    """A round: stretches of broken revisions until their share is reached, then a guilty one."""
    count = len(graph)
    broken = np.zeros(count, dtype=np.bool_)
    while broken.mean() < share:
        first = int(random.integers(count - 1))
        # The slow end was measured, so it builds.
        broken[first : min(count - 1, first + int(random.geometric(1 / _STRETCH)))] = True
    guilty = int(random.choice(np.flatnonzero(~broken)))
    return World(graph, guilty, broken, error, random)


def by_posterior(world: World) -> Ending:
    """Ours."""
    state = start_bisection(world.graph)
    costs = CostOfTest(build_s=0.0, run_s=1.0, error_ratio=world.error, most_runs=1)
    while state.test_count < _MOST_TESTS:
        found = culprit(state)
        if found.set_probability >= CONFIDENCE:
            break
        asked = propose_test(state, costs)
        if asked is None:
            break
        index = world.graph.index(asked.revision)
        if world.broken[index]:
            state = with_broken(state, asked.revision)
            continue
        said = evidence_of_answer(world.answer(index), world.error)
        state = with_evidence(state, asked.revision, said)
    return Ending(frozenset(culprit(state).inseparable), state.test_count)


def by_halving(votes: int) -> Callable[[World], Ending]:
    """What git bisect does, with the majority of `votes` answers as an answer."""

    def bisect(world: World) -> Ending:
        contains = world.graph.contains
        open_ones = np.ones(len(world.graph), dtype=np.bool_)
        skipped = np.zeros(len(world.graph), dtype=np.bool_)
        tests = 0
        while True:
            inside = (contains & open_ones).sum(axis=1)
            total = int(open_ones.sum())
            worth = np.minimum(inside, total - inside) * ~skipped
            index = int(np.argmax(worth))
            if worth[index] == 0:
                names = np.flatnonzero(open_ones).tolist()
                return Ending(frozenset(world.graph.revisions[i] for i in names), tests)
            if world.broken[index]:
                tests += 1
                skipped[index] = True
                continue
            tests += votes
            slow = sum(world.answer(index) for _ in range(votes)) * 2 > votes
            open_ones &= contains[index] if slow else ~contains[index]

    return bisect


WAYS: dict[str, Callable[[World], Ending]] = {
    "posterior": by_posterior,
    "halving, every answer believed": by_halving(1),
    "halving, majority of 3": by_halving(3),
    "halving, majority of 5": by_halving(5),
}


def main() -> int:
    """Simulate and print; 1 if what is promised of bisection does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--revisions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--error", type=float, default=0.05)
    parser.add_argument("--broken", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    graph = history_of(options.repository, options.revisions)
    print(f"{len(graph)} revisions; {options.rounds} rounds; error {options.error:g}; ", end="")
    print(f"{options.broken:.0%} do not build\n")
    print("| way | right | tests, mean | median | 99 % | most | revisions named, mean |")
    print("|---|---|---|---|---|---|---|")
    held = True
    for name, way in WAYS.items():
        random = np.random.default_rng(options.seed)
        right, tests, named = [], [], []
        for _ in range(options.rounds):
            world = make_world(graph, options.error, options.broken, random)
            ending = way(world)
            right.append(graph.revisions[world.guilty] in ending.named)
            tests.append(ending.tests)
            named.append(len(ending.named))
        mean = float(np.mean(tests))
        print(
            f"| {name} | {np.mean(right):.2%} | {mean:.1f} | {np.median(tests):.0f} | "
            f"{np.quantile(tests, 0.99):.0f} | {max(tests)} | {np.mean(named):.2f} |",
            flush=True,
        )
        if name == "posterior":
            held = float(np.mean(right)) >= CONFIDENCE and mean <= 24
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
