"""Blocks that two workers ran and that cannot both be right: shown, and used to find who lies.

Two hosts of one platform take about as long for the same. Where their times lie further apart than
chance puts them, or one says that a program failed and the other that it ran, one of both is wrong;
which one it is, a third worker says.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from sqlalchemy import Connection

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.service.repeated_blocks import CommittedBlock, is_repeated, repeated_blocks
from steelyard.service.submissions import Submission, find_submission
from steelyard.service.workers import count_fault

_ASKED = "redundant"
Pair = tuple[CommittedBlock, CommittedBlock]
# Ratios of two hosts of one platform: below the first nothing is said; where there are too few to
# know how they vary, the second is what cannot be.
_LEAST_FACTOR, _UNKNOWN_FACTOR = 1.5, 4.0
_ENOUGH = 16
# One worker of four that lies is in half of the pairs, so that a median would be of lies. A quarter
# of the distances from 0 lie below 0.3186 standard deviations (normal); six of these are no chance.
_LOW, _DEVIATIONS = 0.25, 6 / 0.3186


@dataclass(frozen=True)
class Disagreement:
    """A block, its repetition, and why not both can be right."""

    one: CommittedBlock
    two: CommittedBlock
    why: str


@dataclass(frozen=True)
class Repeats:
    """How many blocks another worker has repeated, and which of them disagree."""

    pair_count: int
    disagreements: tuple[Disagreement, ...]


def repeats_of(connection: Connection, sent: Submission) -> Repeats:
    """What of an experiment was run twice so far."""
    # Most experiments ask for none, and their parts need not be looked through.
    pairs = repeated_blocks(connection, sent.id) if _ASKED in sent.file else []
    if not pairs:
        return Repeats(0, ())
    spec = experiment_spec_from_json(json.loads(sent.specification))
    return Repeats(len(pairs), tuple(disagreements(spec, pairs)))


def disagreements(spec: ExperimentSpec, pairs: Sequence[Pair]) -> list[Disagreement]:
    """The pairs that cannot both be right."""
    ratios = [_log_ratios(spec, *pair) for pair in pairs]
    limit = _limit([value for each in ratios for value in each.values()])
    found: list[Disagreement] = []
    for (one, two), own in zip(pairs, ratios, strict=True):
        why = _unlike_ends(spec, one, two) or _unlike_values(spec, own, limit)
        if why:
            found.append(Disagreement(one, two, why))
    return found


def _values(spec: ExperimentSpec, block: CommittedBlock) -> Mapping[int, float]:
    """The mean of the primary metric of each variant that ran."""
    name = spec.primary_metric.name
    found: dict[int, list[float]] = defaultdict(list)
    for trial in block.trials:
        if trial.status == "ok":
            found[trial.variant] += trial.measurements.get(name, ())
    return {variant: fmean(values) for variant, values in found.items() if values}


def _log_ratios(
    spec: ExperimentSpec, one: CommittedBlock, two: CommittedBlock
) -> Mapping[int, float]:
    first, second = _values(spec, one), _values(spec, two)
    return {
        variant: log(second[variant] / first[variant])
        for variant in first
        if variant in second and first[variant] > 0 and second[variant] > 0
    }


def _limit(values: Sequence[float]) -> float:
    """Beyond it a ratio is no chance, as its logarithm."""
    if len(values) < _ENOUGH:
        return log(_UNKNOWN_FACTOR)
    low = sorted(abs(value) for value in values)[int(_LOW * len(values))]
    return max(log(_LEAST_FACTOR), _DEVIATIONS * low)


def _unlike_ends(spec: ExperimentSpec, one: CommittedBlock, two: CommittedBlock) -> str:
    for number, variant in enumerate(spec.variants):
        ran, failed = (
            [block for block in (one, two) if _all(block.trials, number, ok=ok)]
            for ok in (True, False)
        )
        if len(ran) == len(failed) == 1:
            return f"{variant.name} ran on {ran[0].worker}, and failed on {failed[0].worker}"
    return ""


def _all(trials: Sequence[Trial], variant: int, *, ok: bool) -> bool:
    own = [trial.status == "ok" for trial in trials if trial.variant == variant]
    return bool(own) and all(each is ok for each in own)


def _unlike_values(spec: ExperimentSpec, ratios: Mapping[int, float], limit: float) -> str:
    variant = max(ratios, key=lambda each: abs(ratios[each]), default=None)
    if variant is None or abs(ratios[variant]) <= limit:
        return ""
    return (
        f"{spec.primary_metric.name} of {spec.variants[variant].name} is "
        f"{exp(ratios[variant]):.3g} times the first one's; up to {exp(limit):.3g} can be chance"
    )


def blamed(found: Sequence[Disagreement], part_id: int) -> tuple[int, str] | None:
    """The worker at fault for a disagreement about the part, and why: the one that disagrees with
    several others, where the other of the pair disagrees with it alone. None where nobody can say.
    """
    partners: dict[int, set[int]] = defaultdict(set)
    for each in found:
        partners[each.one.worker_id].add(each.two.worker_id)
        partners[each.two.worker_id].add(each.one.worker_id)
    for each in found:
        if part_id not in (each.one.part_id, each.two.part_id):
            continue
        for own, other in ((each.one, each.two), (each.two, each.one)):
            if len(partners[own.worker_id]) > 1 and len(partners[other.worker_id]) == 1:
                count = len(partners[own.worker_id])
                why = f"it disagrees with {count} workers about blocks that both ran: {each.why}"
                return own.worker_id, why
    return None


def blame_by_repeats(connection: Connection, identifier: str, part_id: int) -> None:
    """Count a fault of a worker whose block, or the one of the worker that repeats it, was
    committed now and shows that it lies."""
    sent = find_submission(connection, identifier)
    if sent is None or _ASKED not in sent.file or not is_repeated(connection, part_id):
        return
    at_fault = blamed(repeats_of(connection, sent).disagreements, part_id)
    if at_fault is not None:
        count_fault(connection, *at_fault, proven=True)
