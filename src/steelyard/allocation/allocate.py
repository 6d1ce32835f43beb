"""From what is asked of hosts, and the workers that there are, to those that run an experiment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from steelyard.allocation.contradiction import smallest_contradiction
from steelyard.allocation.cover_program import Demand
from steelyard.allocation.fewest_workers import Fewest, fewest_workers
from steelyard.allocation.hosts_asked import HostsAsked
from steelyard.allocation.level_shares import level_count
from steelyard.allocation.requirement import Requirement, eligible
from steelyard.allocation.worker_facts import WorkerFacts
from steelyard.core.errors import UsageError


@dataclass(frozen=True)
class Wish:
    """One thing that can contradict others: a requirement, levels of a factor, or a bound."""

    text: str
    requirement: Requirement | None = None
    counted: tuple[str, int] | None = None
    named: tuple[str, str] | None = None
    least: int | None = None
    most: int | None = None


def allocate(asked: HostsAsked, workers: Sequence[WorkerFacts], seed: int) -> Fewest:
    """The fewest workers that give what is asked.

    A share is one of the levels that workers have which meet all requirements. Which of the sets
    of that size is taken is drawn from the seed.

    Raises
    ------
    UsageError
        No set of workers will do: the message names the fewest wishes that contradict each other.
    """
    if not workers:
        raise UsageError(
            "No worker is there. Enrol one by `steelyard worker`, with --server and --token-file.",
            field="hosts",
        )
    wishes = _wishes(asked, workers)
    taken = _taken(wishes, workers, seed)
    if taken is not None:
        return taken
    short = smallest_contradiction(
        len(wishes),
        lambda chosen: _taken([wishes[item] for item in chosen], workers, seed) is not None,
    )
    raise UsageError(_refusal([wishes[item] for item in short], len(workers)), field="hosts")


def _refusal(wishes: Sequence[Wish], worker_count: int) -> str:
    texts = "; ".join(wish.text for wish in wishes)
    if len(wishes) == 1:
        return f"None of {worker_count} workers gives what is asked: {texts}."
    return (
        f"What is asked of hosts cannot be had of {worker_count} workers. These contradict each "
        f"other: {texts}. Without any one of them the rest can be met."
    )


def _wishes(asked: HostsAsked, workers: Sequence[WorkerFacts]) -> list[Wish]:
    """All that is asked, each by itself; shares as counts that no other wish changes."""
    fit = [worker for worker in workers if eligible(asked.require, worker.facts)]
    wishes = [Wish(each.text, requirement=each) for each in asked.require]
    for factor, share in asked.shares.items():
        known = set[str]().union(*(each.levels.get(factor, frozenset()) for each in fit or workers))
        count = level_count(share, max(1, len(known)))
        levels = "level" if count == 1 else "levels"
        wishes.append(Wish(f"{count} {levels} of {factor}", counted=(factor, count)))
    for factor, named in asked.named.items():
        wishes += [Wish(f"{factor} at {level}", named=(factor, level)) for level in named]
    if asked.least > 1:
        wishes.append(Wish(f"at least {asked.least} workers", least=asked.least))
    if asked.most is not None:
        wishes.append(Wish(f"at most {asked.most} workers", most=asked.most))
    return wishes


def _taken(wishes: Collection[Wish], workers: Sequence[WorkerFacts], seed: int) -> Fewest | None:
    requirements = [wish.requirement for wish in wishes if wish.requirement is not None]
    named: dict[str, frozenset[str]] = {}
    for factor, level in (wish.named for wish in wishes if wish.named is not None):
        named[factor] = named.get(factor, frozenset()) | {level}
    demand = Demand(
        counts=dict(wish.counted for wish in wishes if wish.counted is not None),
        named=named,
        least=max((wish.least for wish in wishes if wish.least is not None), default=1),
        most=min((wish.most for wish in wishes if wish.most is not None), default=None),
    )
    fit = [worker for worker in workers if eligible(requirements, worker.facts)]
    return fewest_workers(fit, demand, seed)
