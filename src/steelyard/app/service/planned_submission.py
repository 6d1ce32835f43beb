"""From an experiment file to what a service keeps of it: its plan, its workers, its parts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from steelyard.allocation.allocate import allocate
from steelyard.allocation.block_places import block_workers
from steelyard.allocation.hosts_asked import HostsAsked, read_hosts_asked
from steelyard.allocation.requirement import eligible
from steelyard.allocation.worker_facts import WorkerFacts
from steelyard.app.experiment.experiment_file import (
    ExperimentFile,
    KnownPackages,
    experiment_file_of,
)
from steelyard.app.experiment.experiment_repetition import DEFAULT_RUNS
from steelyard.app.experiment.plan_of_file import plan_of
from steelyard.app.service.worker_levels import levels_of
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.hashing import sha256_of
from steelyard.core.json_codec import to_json
from steelyard.core.masked_experiment import masked_spec
from steelyard.core.rng import derive_seed, fresh_seed
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.design.blocks import plan_warmups
from steelyard.service.submissions import NewPart, NewSubmission, SubmissionSummary
from steelyard.service.workers import Worker

if TYPE_CHECKING:
    from steelyard.app.experiment.design_plan import Plan

# Beyond it a form or a call is a slip.
MOST_TRIALS = 1_000_000
# A plan with one of these is of one machine, whose times it follows.
_NOT_HEEDED = ("power",)
Say = Callable[[str], None]


@dataclass(frozen=True)
class PlannedSubmission:
    """An experiment that can be sent.

    Parameters
    ----------
    spec : ExperimentSpec
    file : str
        The content of its file.
    asked : HostsAsked
    workers : tuple of str
        Those that run it, in order of name.
    bound : int
        No set of fewer workers gives what is asked.
    blocks : tuple of str
        The worker of each block.
    estimated_s : float or None
        Until the last worker has ended, where it is known what a trial takes.
    estimated_from : str
        By what that is known: the file, or earlier trials.
    """

    spec: ExperimentSpec
    file: str
    asked: HostsAsked
    workers: tuple[str, ...]
    bound: int
    blocks: tuple[str, ...]
    estimated_s: float | None
    estimated_from: str = "the file"

    @property
    def trial_count(self) -> int:
        """Trials in all, warm-ups left out."""
        return len(self.blocks) * _trials_of_block(self.spec)

    @property
    def summary(self) -> SubmissionSummary:
        """What people and programs are told of it."""
        return SubmissionSummary(
            self.spec.identifier,
            self.trial_count,
            len(self.blocks),
            self.workers,
            self.bound == len(self.workers),
            self.estimated_s,
            self.spec.stopping.runs is None,
            None if self.estimated_s is None else self.estimated_from,
        )


def plan_submission(
    text: str, name: str, workers: Sequence[Worker], packages: KnownPackages
) -> PlannedSubmission:
    """What sending the experiment file with the content `text` will run, and where.

    Its benchmark packages are `packages`: what lies on this machine under their names is not read.

    Raises
    ------
    DataError, UsageError
        The file is wrong, or no workers give what it asks of hosts.
    """
    read = replace(experiment_file_of(text, name), packages=packages)
    _refuse(read)
    asked = read_hosts_asked(read.hosts)
    seed = int(read.settings["seed"]) if "seed" in read.settings else fresh_seed()
    there = [levels_of(each) for each in _can_run(asked, workers)]
    chosen = allocate(asked, there, seed)
    replicates = _replicates(read, len(chosen.workers))
    _refuse_too_many(len(chosen.workers) * replicates, name)
    blocks = block_workers(chosen.workers, replicates, seed)
    plan = plan_for_service(read, seed, None if "precision" in read.settings else len(blocks))
    found = PlannedSubmission(
        plan.spec,
        text,
        asked,
        chosen.workers,
        chosen.bound,
        blocks,
        None if plan.estimated_s is None else plan.estimated_s / len(chosen.workers),
    )
    _refuse_too_many(found.trial_count, name)
    return found


def _can_run(asked: HostsAsked, workers: Sequence[Worker]) -> list[Worker]:
    """The workers that are there, and can be booted where that is asked."""
    there = [each for each in workers if each.status not in ("gone", "quarantined")]
    if asked.reboot == "never":
        return there
    found = [each for each in there if each.cluster]
    if there and not found:
        raise UsageError(
            f'reboot = "{asked.reboot}": none of the {len(there)} workers is of a cluster, whose '
            "hosts a service can boot. Leave it out, or enrol hosts of a Slurm cluster.",
            field="hosts.reboot",
        )
    return found


def _refuse_too_many(trial_count: int, name: str) -> None:
    if trial_count > MOST_TRIALS:
        raise UsageError(
            f"{name}: that is {trial_count} trials or more; a service takes {MOST_TRIALS} at once. "
            "Leave levels or replicates out.",
            field="hosts.replicates",
        )


def _refuse(read: ExperimentFile) -> None:
    """What a service does not do yet, or cannot, since each worker would do it by itself."""
    for name in _NOT_HEEDED:
        if name in read.settings:
            raise UsageError(
                f"{read.path}: a service cannot plan by `{name}`. Give `runs`, `precision`, or "
                "`replicates` under [hosts].",
                field=f"experiment.{name}",
            )
    precise = "precision" in read.settings
    if "budget" in read.settings and not precise:
        raise UsageError(
            f"{read.path}: a service runs a number of blocks that is told beforehand, or until "
            "they are precise. Give `precision` with `budget`, or leave `budget` out.",
            field="experiment.budget",
        )
    if precise and ("replicates" in read.hosts or read.settings.get("order") == "sequential"):
        other = "hosts.replicates" if "replicates" in read.hosts else "experiment.order"
        raise UsageError(
            f"{read.path}: `precision` says how many blocks there are, each with all variants. "
            f"Leave `{other.partition('.')[2]}` out.",
            field=other,
        )
    if read.events:
        raise UsageError(
            f"{read.path}: a study of events runs on one machine alone: steelyard experiment run.",
            field="events",
        )


def _replicates(read: ExperimentFile, worker_count: int) -> int:
    """Blocks on each worker; until it is precise, those before the first look."""
    if "precision" in read.settings:
        return ceil(StoppingSpec().minimum_blocks / worker_count)
    if "replicates" in read.hosts:
        return read_hosts_asked(read.hosts).replicates
    runs = read.settings.get("runs", DEFAULT_RUNS)
    return runs if type(runs) is int and runs >= 1 else 1


def plan_for_service(
    read: ExperimentFile, seed: int, block_count: int | None, say: Say | None = None
) -> Plan:
    """The plan of a file with a seed and a number of blocks, or None where its precision ends it:
    the same wherever it is made.

    With `say` its programs of the suite are made ready, as a worker does.
    """
    settings = {**read.settings, "seed": seed}
    if block_count is not None:
        settings["runs"] = block_count
    return plan_of(replace(read, settings=settings), say)


def plan_digest(spec: ExperimentSpec) -> str:
    """What two plans of one experiment have in common: order, variants by name, levels, draws."""
    told: dict[str, Any] = {
        "seed": spec.seed,
        "order": spec.order,
        "runs": spec.stopping.runs,
        "warm-ups": spec.warmup_count,
        "variants": [[each.name, *each.parameters] for each in spec.variants],
        "levels": to_json(spec.levels),
        "nuisance": to_json(spec.nuisance),
        "metrics": to_json(spec.metrics),
        "setup each": spec.setup_each,
    }
    packaged = {each.name: to_json(each.package) for each in spec.variants if each.package}
    if packaged:
        told["packages"] = packaged
    return sha256_of(json.dumps(told, sort_keys=True).encode()).hex()


def new_submission(
    planned: PlannedSubmission, account_id: int, visibility: str = "private", priority: int = 0
) -> NewSubmission:
    """The row of a submission that was made now."""
    spec = planned.spec
    return NewSubmission(
        identifier=spec.identifier,
        account_id=account_id,
        name=masked_spec(spec).note,
        visibility=visibility,
        file=planned.file,
        specification=json.dumps(to_json(spec)),
        plan=plan_digest(spec),
        trial_count=planned.trial_count,
        priority=priority,
        created_unix_s=time.time(),
        reboot=planned.asked.reboot,
        going_on=json.dumps({"workers": planned.workers}) if spec.stopping.runs is None else "",
        time_limit_s=planned.asked.time_limit_s,
        cost_limit_s=planned.asked.cost_limit_s,
    )


def new_parts(planned: PlannedSubmission, workers: Sequence[Worker]) -> list[NewPart]:
    """A part for each block; each worker's in an order that is drawn."""
    return parts_from(planned.spec, planned.asked, dict(enumerate(planned.blocks)), workers)


def parts_from(
    spec: ExperimentSpec, asked: HostsAsked, blocks: Mapping[int, str], workers: Sequence[Worker]
) -> list[NewPart]:
    """Parts for blocks whose workers are named."""
    numbers = {worker.name: worker.id for worker in workers}
    boots = asked.reboot != "never"
    levels = [levels_of(worker) for worker in workers if worker.cluster or not boots]
    stand_ins = {
        name: tuple(numbers[other] for other in _substitutes(asked, name, levels))
        for name in set(blocks.values())
    }
    parts: list[NewPart] = []
    for block, name in blocks.items():
        place = derive_seed(spec.seed, "place", block) % 2**31
        positions = block_positions(spec, block)
        parts.append(NewPart(block, numbers[name], place, positions, stand_ins[name]))
    return parts


def _substitutes(asked: HostsAsked, name: str, workers: Sequence[WorkerFacts]) -> list[str]:
    """Who meets the same requirements, and is at the same level of every factor that is varied."""
    worker = next(each for each in workers if each.name == name)
    return [
        other.name
        for other in workers
        if other.name != name
        and eligible(asked.require, other.facts)
        and all(other.levels.get(each) == worker.levels.get(each) for each in asked.factors)
    ]


def block_positions(spec: ExperimentSpec, block: int) -> tuple[int, ...]:
    """The places of a block, its warm-ups first: each part begins with its own."""
    count = len(spec.variants)
    warmups = plan_warmups(spec.seed, block, count, spec.warmup_count) if spec.warmup_count else ()
    size = _trials_of_block(spec)
    return (*(trial.position for trial in warmups), *range(block * size, (block + 1) * size))


def _trials_of_block(spec: ExperimentSpec) -> int:
    return len(spec.variants) * spec.trials_of_variant
