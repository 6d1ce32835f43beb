"""Parts of plans as they go to other machines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.design.blocks import PlannedTrial, plan_warmups
from steelyard.design.plan_part import (
    part_document,
    part_from_json,
    plan_part,
    planned_trial,
)
from steelyard.design.schedule import Schedule, phases
from tests.plans import PLANS


def whole_plan(spec: ExperimentSpec) -> list[PlannedTrial]:
    """Every trial that a session of `spec` runs after its warm-ups, in its order."""
    found: list[PlannedTrial] = []
    for variants in phases(spec):
        schedule = Schedule(spec, variants, ())
        while block := schedule.next_block():
            found += block
    return found


@pytest.mark.parametrize("name", PLANS)
def test_a_place_in_a_plan_says_all_that_the_session_says_of_its_trial(name: str) -> None:
    spec = PLANS[name]
    planned = whole_plan(spec)
    assert len(planned) >= 10
    assert [planned_trial(spec, trial.position) for trial in planned] == planned


def test_warm_ups_of_each_session_have_their_places() -> None:
    spec = PLANS["warm-ups"]
    planned = [trial for session in range(3) for trial in plan_warmups(spec.seed, session, 2, 2)]
    assert [planned_trial(spec, trial.position) for trial in planned] == planned
    assert len({trial.position for trial in planned}) == 12


@pytest.mark.parametrize("name", PLANS)
def test_a_part_comes_back_from_json_as_it_was(name: str) -> None:
    part = plan_part(PLANS[name], [3, 0, 1], attempt=2)
    assert part_from_json(json.loads(json.dumps(part_document(part)))) == part


def test_a_plan_without_a_fixed_number_of_runs_has_places_without_end() -> None:
    spec = replace(PLANS["blocks"], stopping=StoppingSpec())
    assert planned_trial(spec, 2 * 10**9).block == 10**9


def document(**changes: Any) -> dict[str, Any]:
    return {**part_document(plan_part(PLANS["blocks"], [0, 1])), **changes}


WRONG = {
    "no object": ([], "must be a JSON object"),
    "unknown field": (document(colour=1), "unknown field 'colour'"),
    "another kind": (document(kind="trial-spec"), "kind must be 'plan-part', not 'trial-spec'"),
    "another schema": (document(schema="steelyard/9"), "schema must be 'steelyard/1'"),
    "no experiment": ({"positions": [0]}, "lacks the field 'experiment'"),
    "no positions": ({"experiment": {}}, "lacks the field 'positions'"),
    "an empty part": (document(positions=[]), "has at least one position"),
    "a position twice": (document(positions=[1, 0, 1]), "position 1 is there twice"),
    "true is no position": (document(positions=[True]), "a list of whole numbers"),
    "one number": (document(positions=3), "a list of whole numbers"),
    "behind the last block": (document(positions=[10]), "no trial at the position 10"),
    "beyond what a trial may have": (document(positions=[2**31]), "behind the last block"),
    "no warm-ups": (document(positions=[-1]), "has no such warm-up"),
    "attempt": (document(attempt=-1), "attempt must be a whole number from 0 on, not -1"),
    "an experiment that cannot be": (
        document(
            experiment={
                **part_document(plan_part(PLANS["blocks"], [0]))["experiment"],
                "identifier": "x",
            }
        ),
        "26 characters of a ULID",
    ),
    "half an experiment": (document(experiment={"seed": 1}), "it lacks 'identifier', 'kind'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_part_that_the_plan_does_not_have_is_refused(name: str) -> None:
    data, message = WRONG[name]
    with pytest.raises(DataError, match=message):
        part_from_json(data)
