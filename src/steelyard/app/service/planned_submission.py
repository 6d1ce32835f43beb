"""From an experiment file to what a service keeps of it: its plan, its workers, its parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from steelyard.allocation.allocate import allocate
from steelyard.allocation.brought_levels import BlockPlace, block_places, used_levels
from steelyard.allocation.hosts_asked import HostsAsked, read_hosts_asked
from steelyard.app.experiment.experiment_entries import ExperimentFile, KnownPackages
from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.experiment.experiment_repetition import DEFAULT_RUNS
from steelyard.app.experiment.plan_of_file import plan_of
from steelyard.app.service.block_parts import (
    going_on_text,
    parts_from,
    trials_of_block,
    twin_places,
)
from steelyard.app.service.file_hosts import hosts_asked_by
from steelyard.app.service.worker_levels import can_boot, levels_of
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.hashing import sha256_of
from steelyard.core.json_codec import to_json
from steelyard.core.masked_experiment import masked_spec
from steelyard.core.package_spec import PackageSpec
from steelyard.core.rng import fresh_seed
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.service.follow_ups import WANTED
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
    blocks : tuple of BlockPlace
        The worker of each block, and what it is brought to.
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
    blocks: tuple[BlockPlace, ...]
    estimated_s: float | None
    estimated_from: str = "the file"

    @property
    def trial_count(self) -> int:
        """Trials in all, warm-ups left out."""
        return len(self.blocks) * trials_of_block(self.spec)

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
    asked = hosts_asked_by(read)
    seed = int(read.settings["seed"]) if "seed" in read.settings else fresh_seed()
    there = [levels_of(each) for each in _can_run(asked, workers)]
    chosen = allocate(asked, there, seed)
    runners = [each for each in there if each.name in chosen.workers]
    used = used_levels(asked, runners, seed)
    places = block_places(runners, used, 1, seed)
    replicates = _replicates(read, len(places))
    _refuse_too_many(len(places) * replicates, name)
    blocks = block_places(runners, used, replicates, seed)
    blocks = (*blocks, *twin_places(blocks, asked, there, seed))
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
    if not asked.boots:
        return there
    found = [each for each in there if can_boot(each)]
    if there and not found:
        raise UsageError(
            f'reboot = "{asked.reboot}": none of the {len(there)} workers is of a cluster, whose '
            "hosts a service can boot, or boots itself. Leave it out, or enrol such hosts.",
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
    if precise and "redundant" in read.hosts:
        raise UsageError(
            f"{read.path}: `precision` says how many blocks there are. Leave `redundant` out, or "
            "give `replicates`.",
            field="hosts.redundant",
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


def _replicates(read: ExperimentFile, place_count: int) -> int:
    """Blocks on each worker, at each combination of what it is brought to; until it is precise,
    those before the first look."""
    if "precision" in read.settings:
        return ceil(StoppingSpec().minimum_blocks / place_count)
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
    packaged = {each.name: _package(each.package) for each in spec.variants if each.package}
    if packaged:
        told["packages"] = packaged
    return sha256_of(json.dumps(told, sort_keys=True).encode()).hex()


def _package(package: PackageSpec) -> dict[str, Any]:
    """A package without what it is brought to, block by block."""
    return {name: value for name, value in to_json(package).items() if name != "libraries"}


@dataclass(frozen=True)
class Wishes:
    """What is asked of an experiment besides its file.

    Parameters
    ----------
    priority : int
        What has more is given out first.
    is_followed : bool
        It is a screening, and the full design of what matters is to follow it.
    batch : str
        What it belongs to; empty for nothing.
    """

    priority: int = 0
    is_followed: bool = False
    batch: str = ""


NO_WISHES = Wishes()


def new_submission(
    planned: PlannedSubmission,
    account_id: int,
    now_s: float,
    visibility: str = "private",
    wishes: Wishes = NO_WISHES,
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
        priority=wishes.priority,
        follow_up=WANTED if wishes.is_followed else "",
        batch=wishes.batch,
        created_unix_s=now_s,
        reboot=planned.asked.reboot,
        going_on=going_on_text(planned.blocks) if spec.stopping.runs is None else "",
        time_limit_s=planned.asked.time_limit_s,
        cost_limit_s=planned.asked.cost_limit_s,
    )


def new_parts(planned: PlannedSubmission, workers: Sequence[Worker]) -> list[NewPart]:
    """A part for each block; each worker's in an order that is drawn."""
    return parts_from(planned.spec, planned.asked, dict(enumerate(planned.blocks)), workers)
