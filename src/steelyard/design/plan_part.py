"""A part of a plan as a value that goes to another machine: what an executor carries.

It holds the whole specification and the places of some trials. Everything else of a trial (its
block, variant and build, its repetition of each level, its setup) follows from its place and the
seed, so that no part can say of a place what the plan does not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from steelyard.core.errors import DataError
from steelyard.core.experiment_check import LARGEST_INDEX, check_spec
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.design.blocks import PlannedTrial, plan_block, plan_run, plan_warmups
from steelyard.design.level_positions import plan_levelled_block

SCHEMA, KIND = "steelyard/1", "plan-part"
FIELDS = ("schema", "kind", "experiment", "positions", "attempt")


@dataclass(frozen=True)
class PlanPart:
    """Some trials of an experiment, to be run on one machine.

    Parameters
    ----------
    experiment : ExperimentSpec
    trials : tuple of PlannedTrial
        In the order in which they are run.
    attempt : int
        How often the part was given out before: what comes late or twice is told apart by it.
    """

    experiment: ExperimentSpec
    trials: tuple[PlannedTrial, ...]
    attempt: int = 0


def planned_trial(spec: ExperimentSpec, position: int) -> PlannedTrial:
    """What the plan of `spec` has at `position`.

    Raises
    ------
    DataError
        The plan has no such place.
    """
    if position < 0:
        return _warmup(spec, position)
    count = len(spec.variants)
    block, place = divmod(position, count * spec.trials_of_variant)
    limit = spec.stopping.runs
    if position > LARGEST_INDEX or (limit is not None and block >= limit):
        raise _no_place(position, "it lies behind the last block")
    if spec.levels:
        alone = spec.order == "sequential"
        variants = [place // spec.trials_of_variant] if alone else range(count)
        planned = plan_levelled_block(spec, block, variants)
        return planned[position - planned[0].position]
    if spec.order == "sequential":
        return plan_run(block, place, count)
    return plan_block(spec.seed, block, count)[place]


def _warmup(spec: ExperimentSpec, position: int) -> PlannedTrial:
    count = len(spec.variants)
    if not spec.warmup_count or position < -LARGEST_INDEX:
        raise _no_place(position, "the experiment has no such warm-up")
    session, place = divmod(-1 - position, count * spec.warmup_count)
    return list(plan_warmups(spec.seed, session, count, spec.warmup_count))[place]


def _no_place(position: int, why: str) -> DataError:
    return DataError(f"The plan has no trial at the position {position}: {why}.", field="positions")


def plan_part(spec: ExperimentSpec, positions: Sequence[int], attempt: int = 0) -> PlanPart:
    """The part of the plan of `spec` that has these places.

    Raises
    ------
    DataError
        One is not in the plan or there twice, or none is given.
    """
    if not positions:
        raise DataError("A part of a plan has at least one position.", field="positions")
    seen: set[int] = set()
    for position in positions:
        if position in seen:
            raise DataError(f"The position {position} is there twice.", field="positions")
        seen.add(position)
    return PlanPart(spec, tuple(planned_trial(spec, each) for each in positions), attempt)


def part_document(part: PlanPart) -> dict[str, Any]:
    """The object of JSON that `part_from_json` reads."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "experiment": to_json(part.experiment),
        "positions": [trial.position for trial in part.trials],
        "attempt": part.attempt,
    }


def part_from_json(data: Any) -> PlanPart:
    """The part of a plan that an object of JSON describes.

    Raises
    ------
    DataError
        A field is unknown, missing or of the wrong kind, or the plan has no such place.
    """
    if not isinstance(data, Mapping):
        raise DataError("A part of a plan must be a JSON object.")
    found: dict[str, Any] = {"schema": SCHEMA, "kind": KIND, "attempt": 0, **data}
    for name in found:
        if name not in FIELDS:
            raise DataError(f"The part has the unknown field {name!r}.", field=name)
    for name, wanted in (("schema", SCHEMA), ("kind", KIND)):
        if found[name] != wanted:
            raise DataError(f"{name} must be {wanted!r}, not {found[name]!r}.", field=name)
    for name in ("experiment", "positions"):
        if name not in found:
            raise DataError(f"The part lacks the field {name!r}.", field=name)
    positions, attempt = _whole_numbers(found["positions"]), found["attempt"]
    if type(attempt) is not int or attempt < 0:
        raise DataError(
            f"attempt must be a whole number from 0 on, not {attempt!r}.", field="attempt"
        )
    spec = experiment_spec_from_json(found["experiment"])
    check_spec(spec)
    return plan_part(spec, positions, attempt)


def _whole_numbers(value: Any) -> list[int]:
    items = cast("list[Any]", value) if isinstance(value, list) else [None]
    whole = [item for item in items if type(item) is int]
    if len(whole) < len(items):
        raise DataError("positions must be a list of whole numbers.", field="positions")
    return whole
