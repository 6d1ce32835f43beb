"""Experiments about one patch end together where a build fails."""

from __future__ import annotations

import itertools

import pytest

from steelyard.app.service.planned_submission import Wishes
from steelyard.app.service.service import Service
from steelyard.app.service.service_batches import checked_batch
from steelyard.core.errors import UsageError
from steelyard.design.plan_part import planned_trial
from steelyard.service.batches import never_built
from steelyard.service.service_database import ServiceDatabase

FILE = """\
[experiment]
seed = 7
runs = 3

[[benchmark]]
name = "base"
command = "true"

[[benchmark]]
name = "patch"
command = "true -x"

[hosts]
factors = {worker = "100%"}
"""
BATCH, OTHER = "01M85SC0VHQM52GC8EDA4C9YQW", "01M85SC0VHQM52GC8EDA4C9YQX"
CLOCK = itertools.count(1)


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    yield Service(database, str(tmp_path / "packages"))
    database.close()


def workers(service, *names):
    facts = {"architecture": "x", "cpus": 1}
    return [
        service.access.worker(service.access.enrol(service.access.owner(), name, facts))
        for name in names
    ]


def sent(service, batch):
    wishes = Wishes(batch=batch)
    planned = service.submit(service.access.owner(), FILE, "e.toml", wishes=wishes)
    return planned.spec.identifier


def run_one(service, host, broken=()):
    """Run the next part of a host, on which the variants `broken` cannot be built."""
    part = service.parts.give(host)
    spec = service.trials(service.submission(service.access.owner(), part.experiment)).spec
    trials = []
    for position in part.positions:
        plan = planned_trial(spec, position)
        failed = plan.variant in broken
        trials.append(
            {
                **{"position": position, "block": plan.block, "variant": plan.variant},
                **{"warmup": False, "status": "failed" if failed else "ok"},
                **{"reason": "build" if failed else None, "started_unix_s": float(next(CLOCK))},
                **{"spent_s": 1.0, "measurements": {} if failed else {"wall_time": [0.5]}},
                **{"build": 0, "realised": {}, "details": {}},
            }
        )
    body = {"part": part.id, "attempt": part.attempt, "experiment": part.experiment}
    taken = service.parts.take(host, {**body, "trials": trials, "provenance": {}})
    assert taken.outcome == "committed", taken.message


def states(service, *identifiers):
    found = [service.submission(service.access.owner(), each) for each in identifiers]
    return [(each.state, each.stopped) for each in found]


def test_a_build_that_fails_ends_the_experiment_and_its_siblings_alone(service) -> None:
    (host,) = workers(service, "one")
    first, sibling = sent(service, BATCH), sent(service, BATCH)
    stranger, lone = sent(service, OTHER), sent(service, "")
    run_one(service, host, broken=[1])
    why = f"patch of {first} could not be built"
    assert states(service, first, sibling) == [("cancelled", why)] * 2
    assert states(service, stranger, lone) == [("queued", "")] * 2
    # What failed is kept.
    assert service.submission(service.access.owner(), first).committed_count == 2
    assert service.parts.give(host).experiment == stranger


def test_what_was_built_on_another_worker_is_not_ended_by_one_that_cannot(service) -> None:
    good, poor = workers(service, "good", "poor")
    first, sibling = sent(service, BATCH), sent(service, BATCH)
    run_one(service, good)
    run_one(service, poor, broken=[0, 1])
    assert states(service, first, sibling) == [("running", ""), ("queued", "")]


def test_a_lone_experiment_keeps_its_failed_builds_as_data(service) -> None:
    (host,) = workers(service, "one")
    lone = sent(service, "")
    for _ in range(3):
        run_one(service, host, broken=[1])
    assert states(service, lone) == [("done", "")]


def test_other_failures_end_nothing(service) -> None:
    assert never_built([(0, "ok", None), (1, "failed", "exit")]) == []
    assert never_built([(0, "ok", None), (1, "failed", "build"), (1, "ok", None)]) == []
    assert never_built([(2, "failed", "build"), (1, "failed", "build")]) == [1, 2]


def test_a_batch_is_an_identifier() -> None:
    assert checked_batch("") == ""
    assert checked_batch(BATCH) == BATCH
    with pytest.raises(UsageError, match="batch takes an identifier"):
        checked_batch("mine")
