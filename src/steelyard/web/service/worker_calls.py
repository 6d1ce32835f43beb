"""Calls of the API about workers, and those by which workers get parts and send results."""

from __future__ import annotations

import json
from typing import Any, cast

from steelyard.app.service.host_boots import WantedBoot, read_said
from steelyard.app.service.sent_result import whole_field
from steelyard.app.service.service import Service
from steelyard.core.errors import UsageError
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.service.accounts import Identity
from steelyard.service.part_queue import GivenPart
from steelyard.service.workers import Worker
from steelyard.web.service.answered_call import text_in
from steelyard.web.service.build_api import given_build
from steelyard.web.service.package_api import given_rehearsal

_SCHEMA = {"schema": "steelyard/1"}


def worker_summary(worker: Worker) -> dict[str, Any]:
    """A worker in a list."""
    return {
        "worker": worker.name,
        "status": worker.status,
        "cluster": worker.cluster,
        "reason": worker.reason,
        "heartbeat_unix_s": worker.heartbeat_unix_s,
        "enrolled_unix_s": worker.enrolled_unix_s,
        "facts": dict(worker.facts),
    }


def listed_workers(service: Service, _who: Identity, _path: Any, _body: Any) -> Any:
    """All workers."""
    found = [worker_summary(each) for each in service.hosts.workers()]
    return {**_SCHEMA, "kind": "workers", "workers": found}


def enrolled_worker(service: Service, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
    """Enrol a host as a worker."""
    facts = body.get("facts", {})
    if not isinstance(facts, dict):
        raise UsageError("facts takes an object.", field="facts")
    token = service.access.enrol(who, text_in(body, "name"), cast("dict[str, Any]", facts))
    return {**_SCHEMA, "kind": "enrolled", "worker": body["name"], "token": token}


def given_next(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """What a worker does next: a rehearsal, builds, a boot or a part; None: nothing."""
    rehearsal = service.rehearsals.give(worker)
    if rehearsal is not None:
        return given_rehearsal(rehearsal)
    builds = service.builds.give(worker)
    if builds is not None:
        return given_build(builds)
    given = service.parts.give(worker, read_said(body))
    if isinstance(given, WantedBoot):
        return {**_SCHEMA, "kind": "wanted-boot", "booted_for": given.booted_for}
    return None if given is None else _given_document(given)


def has_run(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """A worker has run trials of its part; whether it goes on with the rest."""
    part, attempt, count = (whole_field(body, name) for name in ("part", "attempt", "ran"))
    return {**_SCHEMA, "kind": "ran", "goes_on": service.parts.ran(worker, part, attempt, count)}


def _given_document(given: GivenPart) -> dict[str, Any]:
    specification = experiment_spec_from_json(json.loads(given.specification))
    return {
        **_SCHEMA,
        "kind": "given-part",
        "part": given.id,
        "attempt": given.attempt,
        "experiment": given.experiment,
        "file": given.file,
        "plan": given.plan,
        "positions": list(given.positions),
        "packages": dict(given.packages),
        "levels": dict(given.levels),
        "reboot": given.reboot,
        "ran": given.ran,
        "specification": to_json(specification),
    }


def released_worker(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """Let a host that was set aside run parts again."""
    released = service.hosts.release(who, path["worker"])
    return {**_SCHEMA, "kind": "released", "worker": path["worker"], "was_held": released}


def taken_reading(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """What a host takes for the reference benchmark."""
    return {**_SCHEMA, "kind": "reading", "set_aside": service.hosts.keep_reading(worker, body)}


def heard_beat(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """A worker's sign of life."""
    service.parts.beat(worker, text_in(body, "status"))


def taken_results(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """What a worker sends back of a part."""
    taken = service.parts.take(worker, body)
    return {**_SCHEMA, "kind": "taken", "outcome": taken.outcome, "message": taken.message}
