"""The parts of an experiment: a block each, where it is run, and who else may run it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from steelyard.allocation.brought_levels import BlockPlace
from steelyard.allocation.hosts_asked import HostsAsked
from steelyard.allocation.level_shares import level_count
from steelyard.allocation.requirement import eligible
from steelyard.allocation.worker_facts import BROUGHT_FACTORS, WorkerFacts
from steelyard.app.service.worker_levels import can_boot, levels_of
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.placement_spec import WORKER
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import plan_warmups
from steelyard.service.submissions import NewPart
from steelyard.service.workers import Worker

# Times of a block can be told to agree with those of its twin on hosts that are alike.
_ALIKE = "platform"


def parts_from(
    spec: ExperimentSpec,
    asked: HostsAsked,
    blocks: Mapping[int, BlockPlace],
    workers: Sequence[Worker],
) -> list[NewPart]:
    """Parts for blocks whose places are named."""
    numbers = {worker.name: worker.id for worker in workers}
    known = [levels_of(worker) for worker in workers if can_boot(worker) or not asked.boots]
    stand_ins = {
        (place.worker, place.levels): _substitutes(asked, place, known)
        for place in set(blocks.values())
    }
    ran_by = {block: place.worker for block, place in blocks.items()}
    elsewhere = {place.twin: place.worker for place in blocks.values() if place.twin is not None}
    parts: list[NewPart] = []
    for block, place in blocks.items():
        # What is repeated elsewhere is never run by the same worker, whoever is lost.
        other = elsewhere.get(block, ran_by.get(-1 if place.twin is None else place.twin))
        names = [each for each in stand_ins[place.worker, place.levels] if each != other]
        parts.append(
            NewPart(
                block,
                numbers[place.worker],
                derive_seed(spec.seed, "place", block) % 2**31,
                block_positions(spec, block),
                tuple(numbers[each] for each in names),
                dict(place.levels),
                place.twin,
            )
        )
    return parts


def twin_places(
    blocks: Sequence[BlockPlace], asked: HostsAsked, workers: Sequence[WorkerFacts], seed: int
) -> tuple[BlockPlace, ...]:
    """The places of further blocks, each of which repeats one of `blocks` on another worker of the
    same platform, as many as the share that is asked to be redundant says.

    Raises
    ------
    UsageError
        There is no other such worker.
    """
    if not asked.redundant_ratio:
        return ()
    keys = {block: derive_seed(seed, "redundant", block) for block in range(len(blocks))}
    count = level_count(asked.redundant_ratio, len(blocks))
    drawn = sorted(sorted(keys, key=keys.__getitem__)[:count])
    return tuple(_twin(blocks[block], block, asked, workers, seed) for block in drawn)


def _twin(
    place: BlockPlace,
    block: int,
    asked: HostsAsked,
    workers: Sequence[WorkerFacts],
    seed: int,
) -> BlockPlace:
    varied = (*(name for name in asked.factors if name != WORKER), _ALIKE)
    others = _same_levels(asked, place, workers, varied)
    if not others:
        raise UsageError(
            f"redundant: no other worker of the platform of {place.worker} has what is asked, so "
            "that none can repeat its blocks. Enrol one, or leave `redundant` out.",
            field="hosts.redundant",
        )
    chosen = min(others, key=lambda name: derive_seed(seed, "twin", block, name))
    return replace(place, worker=chosen, twin=block)


def _substitutes(asked: HostsAsked, place: BlockPlace, workers: Sequence[WorkerFacts]) -> list[str]:
    """Who meets the same requirements, and is at the same level of every factor that is varied."""
    return _same_levels(asked, place, workers, asked.factors)


def _same_levels(
    asked: HostsAsked,
    place: BlockPlace,
    workers: Sequence[WorkerFacts],
    varied: Iterable[str],
) -> list[str]:
    """The other workers that are at the levels of a place, or can be brought to them."""
    worker = next(each for each in workers if each.name == place.worker)
    fixed = [name for name in varied if name not in BROUGHT_FACTORS]
    return [
        other.name
        for other in workers
        if other.name != place.worker
        and eligible(asked.require, other.facts)
        and all(other.levels.get(each) == worker.levels.get(each) for each in fixed)
        and all(level in other.levels.get(name, frozenset()) for name, level in place.levels)
    ]


def block_positions(spec: ExperimentSpec, block: int) -> tuple[int, ...]:
    """The places of a block, its warm-ups first: each part begins with its own."""
    count = len(spec.variants)
    warmups = plan_warmups(spec.seed, block, count, spec.warmup_count) if spec.warmup_count else ()
    size = trials_of_block(spec)
    return (*(trial.position for trial in warmups), *range(block * size, (block + 1) * size))


def trials_of_block(spec: ExperimentSpec) -> int:
    """How many trials a block has, its warm-ups left out."""
    return len(spec.variants) * spec.trials_of_variant


def going_on_text(blocks: Sequence[BlockPlace]) -> str:
    """Where further blocks of an experiment are run, as its row keeps it."""
    places = dict.fromkeys((place.worker, place.levels) for place in blocks)
    return json.dumps({"places": [[worker, dict(levels)] for worker, levels in places]})


def places_going_on(text: str) -> list[BlockPlace]:
    """The same as places; rows of earlier versions name the workers alone."""
    told = json.loads(text)
    places = told.get("places") or [[name, {}] for name in told["workers"]]
    return [BlockPlace(worker, tuple(levels.items())) for worker, levels in places]
