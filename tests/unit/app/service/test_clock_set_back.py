"""The clock of a service is set back by a day while an experiment runs: nothing hangs on it."""

from __future__ import annotations

import itertools

import pytest

from steelyard.app.service.service import Service
from steelyard.design.plan_part import planned_trial
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.workers import HEARTBEAT_LIMIT_S

FILE = """\
[experiment]
seed = 7
runs = 4
[[benchmark]]
name = "b"
command = "true"
[[factor]]
factor = "environment-size"
levels = [0, 64]
[hosts]
workers = 1
time_limit = "2h"
"""
DAY_S = 86_400.0
# No two trials begin at the same time.
CLOCK = itertools.count(1)


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    made = Service(database, str(tmp_path / "packages"), lambda: made.now_s)
    # Every part of it asks this clock.
    made.now_s = 1e9
    yield made
    database.close()


def body_of(service, part):
    spec = service.trials(service.submission(service.access.owner(), part.experiment)).spec
    trials = [
        {
            **{"position": position, "block": planned_trial(spec, position).block},
            **{"variant": planned_trial(spec, position).variant, "warmup": False, "status": "ok"},
            **{"reason": None, "started_unix_s": float(next(CLOCK)), "spent_s": 1.0},
            **{"measurements": {"wall_time": [0.5]}, "build": 0, "realised": {}, "details": {}},
        }
        for position in part.positions
    ]
    body = {"part": part.id, "attempt": part.attempt, "experiment": part.experiment}
    return {**body, "trials": trials, "provenance": {}}


def test_a_worker_that_falls_silent_after_it_is_found_and_no_place_is_lost(service) -> None:
    owner = service.access.owner()
    facts = {"architecture": "x", "cpus": 1}
    hosts = [
        service.access.worker(service.access.enrol(owner, name, facts)) for name in ("one", "two")
    ]
    sent = service.submit(owner, FILE, "e.toml")
    (name,) = sent.workers
    first, second = sorted(hosts, key=lambda host: host.name != name)
    done, held = service.parts.give(first), None
    assert service.parts.take(first, body_of(service, done)).outcome == "committed"
    held = service.parts.give(first)
    service.now_s -= DAY_S
    # The clock went back: nobody is silent yet, and what was given stays given.
    service.parts.beat(second, "idle")
    assert service.parts.give(second) is None
    service.now_s += HEARTBEAT_LIMIT_S + 1
    service.parts.beat(second, "idle")
    taken = []
    while (part := service.parts.give(second)) is not None:
        taken.append(part.id)
        assert service.parts.take(second, body_of(service, part)).outcome == "committed"
    assert held.id in taken
    assert service.parts.take(first, body_of(service, held)).outcome == "late"
    found = service.submission(owner, sent.spec.identifier)
    assert (found.state, found.committed_count, found.stopped) == ("done", 8, "")
